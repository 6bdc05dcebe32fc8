#include "tools/warm_shells.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "support/log.h"
#include "tools/warm_shell_script.h"

namespace tools {
namespace {

void LogNotStarted(const std::exception& error) {
  // Such as a command line that is too long, of a directory that a guest has made up.
  support::LogInfo(std::string("no shell is started ahead: ") + error.what());
}

}  // namespace

WarmShells::Use::Use(WarmShells& shells, Place place) : shells_(shells), place_(std::move(place)) {
  const std::scoped_lock lock(shells_.mutex_);
  ++shells_.commands_;
}

WarmShells::Use::~Use() {
  try {
    shells_.Renew(place_);
  } catch (const std::exception& error) {
    LogNotStarted(error);
  }
}

std::shared_ptr<WarmShell> WarmShells::Use::Take(const support::Context& context) {
  const std::shared_ptr<WarmShell> shell = shells_.Take(place_);
  if (!shell) return nullptr;
  const bool usable = shell->WaitUntilReady(shell->started() + kPatience, context);
  // One that a stopped call did not wait for has not failed.
  if (shell->ready() || context.stop_reason() == support::StopReason::kNone) {
    shells_.Judge(shell->ready());
  }
  return usable ? shell : nullptr;
}

std::shared_ptr<WarmShell> WarmShells::Take(const Place& place) {
  const std::scoped_lock lock(mutex_);
  DropEnded(place.guest);
  const auto oldest = support::Clock::now() - options_.longest_age;
  std::erase_if(waiting_, [&](const Entry& entry) { return entry.shell->started() <= oldest; });
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Entry& entry) { return entry.place == place; });
  if (found == waiting_.end()) return nullptr;
  std::shared_ptr<WarmShell> shell = std::move(found->shell);
  waiting_.erase(found);
  return shell;
}

void WarmShells::Renew(const Place& place) {
  std::vector<Entry> thrown_away;  // after the lock has been let go
  const std::scoped_lock lock(mutex_);
  --commands_;
  DropEnded(place.guest);
  thrown_away.swap(waiting_);
  if (!options_.enabled || failures_ >= kMostFailures || commands_ >= kMostCommands ||
      !MayBeBash(place.shell)) {
    return;
  }
  const std::size_t wanted = std::min<std::size_t>(static_cast<std::size_t>(commands_) + 1, kMost);
  while (waiting_.size() < wanted) {
    std::shared_ptr<WarmShell> shell =
        WarmShell::Start(*place.guest, place.directory, place.shell, options_.shell);
    if (!shell) return;
    waiting_.push_back({place, std::move(shell)});
  }
}

void WarmShells::Replace(guest::Guest& guest) {
  std::vector<Entry> thrown_away;  // after the lock has been let go
  const std::scoped_lock lock(mutex_);
  DropEnded(&guest);
  thrown_away.swap(waiting_);
  try {
    for (const Entry& old : thrown_away) {
      if (old.place.guest != &guest) continue;  // of a connection that may be over
      std::shared_ptr<WarmShell> shell = WarmShell::Start(
          guest, old.place.directory, old.place.shell, options_.shell, kReplacementDelay);
      if (!shell) return;
      waiting_.push_back({old.place, std::move(shell)});
    }
  } catch (const std::exception& error) {
    LogNotStarted(error);
  }
}

void WarmShells::DropEnded(const guest::Guest* guest) {
  if (guest != guest_) {
    guest_ = guest;
    failures_ = 0;
  }
  std::erase_if(waiting_, [&](const Entry& entry) {
    const bool counts = entry.place.guest == guest;
    if (counts && entry.shell->ready()) failures_ = 0;
    if (entry.shell->waiting()) return false;
    if (counts && !entry.shell->ready()) ++failures_;
    return true;
  });
}

void WarmShells::Judge(bool became_ready) {
  const std::scoped_lock lock(mutex_);
  failures_ = became_ready ? 0 : failures_ + 1;
}

}  // namespace tools
