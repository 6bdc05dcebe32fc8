#include "tools/leftover_cleaner.h"

#include <algorithm>
#include <condition_variable>
#include <optional>
#include <utility>

#include "support/errors.h"
#include "support/log.h"
#include "support/paths.h"
#include "tools/link_count.h"
#include "tools/shell_quote.h"
#include "tools/temporary_name.h"

namespace tools {
namespace {

/// With the sticky bit, by which systemd-tmpfiles knows files that stay although they are old: it
/// removes all others from /tmp after ten days, and a connection may last longer.
constexpr std::uint32_t kNotePermissions = 01600;

/// What is kept of the shell's output, in bytes: a login profile may print before it.
constexpr std::size_t kMaximumOutput = std::size_t{64} * 1024;

/// One line, for any login shell.
///
/// - It cleans twice: the SFTP server may still be working off what it had been sent when the line
///   broke.
/// - `cat` and the dot keep line ends at the end of a name.
std::string CleanerScript(const std::string& token) {
  return "umask 077; notes=${TMPDIR:-/tmp}/limactl-mcp-" + token +
         "; mkdir \"$notes\" || exit 1; trap '' HUP INT TERM PIPE; printf '%s\\n' \"$notes\""
         "; while read -r line; do :; done"
         "; clean() { for note in \"$notes\"/*; do [ -f \"$note\" ] || continue"
         "; directory=$(cat \"$note\"; printf .); rm -f -- \"${directory%.}\"/" +
         std::string(kTemporaryPrefix) + token +
         "-*; done; }; clean; sleep 1; clean; rm -rf \"$notes\"";
}

}  // namespace

/// Waits for the line with the name of the shell's directory.
class LeftoverCleaner::Sink final : public guest::OutputSink {
 public:
  explicit Sink(const std::string& token) : end_("/limactl-mcp-" + token + "\n") {}

  bool OnOutput(guest::OutputStream stream, std::string_view bytes) override {
    if (stream != guest::OutputStream::kStandardOutput) return true;
    const std::scoped_lock lock(mutex_);
    text_ += bytes.substr(0, kMaximumOutput - std::min(kMaximumOutput, text_.size()));
    changed_.notify_all();
    return true;
  }

  void OnEnd() override {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  std::optional<std::string> WaitForDirectory(support::Clock::time_point deadline,
                                              const support::Context& context) {
    const auto registration = context.OnStop([this] {
      const std::scoped_lock lock(mutex_);
      stopped_ = true;
      changed_.notify_all();
    });
    std::unique_lock lock(mutex_);
    std::size_t end = std::string::npos;
    changed_.wait_until(lock, deadline, [&] {
      end = text_.find(end_);
      return end != std::string::npos || ended_ || stopped_;
    });
    if (end == std::string::npos) return std::nullopt;
    const std::size_t line = text_.rfind('\n', end);
    const std::size_t begin = line == std::string::npos ? 0 : line + 1;
    std::string directory = text_.substr(begin, end + end_.size() - 1 - begin);
    if (!directory.starts_with('/')) return std::nullopt;  // a relative $TMPDIR
    return directory;
  }

 private:
  std::string end_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  bool ended_ = false;
  bool stopped_ = false;
};

LeftoverCleaner::LeftoverCleaner() = default;
LeftoverCleaner::~LeftoverCleaner() = default;

bool LeftoverCleaner::IsWatching() const {
  return shell_ && !notes_.empty() && shell_->waiting();
}

bool LeftoverCleaner::Watches(const Name& name) const {
  const std::scoped_lock lock(mutex_);
  const std::string beginning = std::string(kTemporaryPrefix) + token_ + "-";
  return IsWatching() && support::LastComponent(name.path).starts_with(beginning);
}

bool LeftoverCleaner::EnsureStarted(guest::Guest& guest, const support::Context& context) {
  if (IsWatching()) return true;
  const auto now = support::Clock::now();
  if (now < next_start_) return false;
  next_start_ = now + kRestartPause;
  noted_.clear();
  const std::string token = RandomToken();
  const auto sink = std::make_shared<Sink>(token);
  guest::Command command;
  command.command_line = "exec /bin/sh -c " + ShellQuote(CleanerScript(token));
  command.hold_standard_input_open = true;
  std::unique_ptr<guest::WaitingCommand> shell = guest.StartWaiting(std::move(command), sink);
  std::string notes;
  if (shell) {
    const auto deadline = std::min(now + kStartPatience, context.deadline());
    notes = sink->WaitForDirectory(deadline, context).value_or("");
    if (notes.empty() && context.stop_reason() != support::StopReason::kNone) {
      next_start_ = now;  // not the shell's fault
      context.ThrowIfStopped();
    }
    if (notes.empty()) {
      support::LogInfo(
          "nothing in the guest watches over temporary files: no shell came up for it");
      shell.reset();
    }
  }
  {
    const std::scoped_lock lock(mutex_);
    token_ = token;
    notes_ = notes;
    shell_.swap(shell);
  }
  return IsWatching();
}

LeftoverCleaner::Name LeftoverCleaner::MakeName(const std::string& directory, guest::Guest& guest,
                                                const support::Context& context) {
  const std::string unwatched =
      support::JoinPath(directory, std::string(kTemporaryPrefix) + RandomToken());
  // Whoever comes while the shell starts or a note is made needs both, but must not wait for them
  // once it is stopped.
  const PathLocks::Lock turn = turns_.Acquire("", context);
  if (!EnsureStarted(guest, context)) return {unwatched, false};
  const std::uint64_t number = next_number_++;
  if (!noted_.contains(directory)) {
    if (noted_.size() >= kMaximumDirectories) return {unwatched, false};
    if (!Note(directory, number, guest, context)) return {unwatched, false};
    noted_.insert(directory);
  }
  return {support::JoinPath(directory,
                            std::string(kTemporaryPrefix) + token_ + "-" + std::to_string(number)),
          true};
}

bool LeftoverCleaner::Note(const std::string& directory, std::uint64_t number, guest::Guest& guest,
                           const support::Context& context) {
  try {
    const auto note = guest.Open(support::JoinPath(notes_, std::to_string(number)),
                                 guest::OpenMode::kCreateExclusive, kNotePermissions, context);
    note->Write(0, directory, context);
    note->Close(context);
    return true;
  } catch (const guest::FileError& error) {
    support::LogInfo(std::string("temporary files are not watched over: ") + error.what());
    return false;
  }
}

bool LeftoverCleaner::IsFirstWriteIn(const std::string& directory) {
  const std::scoped_lock lock(mutex_);
  return written_.size() < kMaximumDirectories && written_.insert(directory).second;
}

void SweepLeftovers(const std::string& target, guest::Guest& guest,
                    const support::Context& context) {
  const std::string directory = support::ParentPath(target);
  try {
    const auto entries = guest.ListSmall(directory, kLargeDirectoryBytes, context);
    if (!entries) return;
    // The directory's own clock, which may be another than the guest's (a mount of the host's).
    const std::string_view name = support::LastComponent(target);
    const auto written = std::find_if(entries->begin(), entries->end(),
                                      [&](const auto& entry) { return entry.name == name; });
    if (written == entries->end()) return;
    constexpr std::int64_t kAge = std::chrono::seconds(kLeftoverAge).count();
    for (const guest::DirectoryEntry& entry : *entries) {
      if (IsTemporaryName(entry.name) && entry.attributes.type == guest::FileType::kRegular &&
          entry.attributes.modified + kAge < written->attributes.modified) {
        guest.Unlink(support::JoinPath(directory, entry.name), context);
      }
    }
  } catch (const support::CallError& error) {
    support::LogInfo(std::string("leftovers were not looked for: ") + error.what());
  }
}

}  // namespace tools
