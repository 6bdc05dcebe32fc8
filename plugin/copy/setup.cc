// SPDX-License-Identifier: Apache-2.0
#include "copy/setup.h"

#include <unistd.h>

#include <array>
#include <future>
#include <iostream>
#include <memory>
#include <optional>

#include "connection/shared_connection.h"
#include "copy/checkpoints.h"
#include "git/objects.h"
#include "lima/configuration.h"
#include "network/proxy.h"
#include "shell/shells.h"
#include "support/errors.h"
#include "support/foreground_child.h"
#include "support/log.h"
#include "support/printable.h"
#include "support/utf8.h"

namespace copy {
namespace {

using support::Error;
using support::Format;
using support::Printable;

/// Bytes of output that are shown.
constexpr std::size_t kMaxShown = std::size_t{10} << 20;

/// Bytes of a line; a longer one is shown as several.
constexpr std::size_t kMaxShownLine = 4096;

/// Unknown: the guest's shell was killed, or its profile has ended it.
constexpr int kNoStatus = 255;

/// Shows output on standard error, line by line as it comes.
class SetupOutput : public shell::OutputSink {
 public:
  bool OnOutput(shell::Stream stream, std::string_view bytes) override {
    std::string& line = lines_.at(stream == shell::Stream::kError ? 1 : 0);
    for (const char character : bytes) {
      if (character != '\n') line += character;
      if (character == '\n' || line.size() >= kMaxShownLine) Show(line, character != '\n');
    }
    return true;
  }

  void Finish() {
    for (std::string& line : lines_) {
      if (!line.empty()) Show(line, false);
    }
  }

 private:
  void Show(std::string& line, bool goes_on) {
    const std::string shown(goes_on ? support::WithoutCutEnd(line) : line);
    line.erase(0, shown.size());
    if (shown_ > kMaxShown) return;
    shown_ += shown.size() + 1;
    std::cerr << Format("  {}\n",
                        shown_ > kMaxShown ? "(more is not shown)" : Printable(shown, "\t"));
  }

  std::array<std::string, 2> lines_;
  std::size_t shown_ = 0;
};

/// Returns the exit status. Ends with the process `parent`: then the connection is closed, and the
/// guest's watcher ends the command.
int RunInGuest(const Instance& instance, const CopyFacts& facts, pid_t parent) {
  constexpr std::chrono::milliseconds kCheck{200};
  const auto& configuration = instance.configuration;
  const auto denials = std::make_shared<network::Denials>(configuration.name);
  const auto guest = connection::ConnectGuestWithRetries(
      configuration.lima_home, configuration.name,
      std::make_shared<network::Proxy>(configuration.directory(), configuration.name, denials));
  const shell::LoginCommand command{facts.setup, "", facts.directory,
                                    lima::LoginShell(configuration)};
  SetupOutput output;
  auto ended = std::async(std::launch::async,
                          [&] { return guest->shells().RunCommand(command, output, {}); });
  while (ended.wait_for(kCheck) != std::future_status::ready) {
    if (::getppid() != parent) ::_exit(1);
  }
  const shell::RunEnd end = ended.get();
  output.Finish();
  return end.began ? end.exit_status.value_or(kNoStatus) : kNoStatus;
}

/// Unless another command was named meanwhile.
void Remember(const Instance& instance, const CopyFacts& run, int status) {
  Copy copy(instance, {run.project, run.name});
  CopyFacts facts = copy.side().facts();
  if (facts.setup != run.setup) return;
  facts.setup_end = std::to_string(status);
  copy.side().Save(facts);
}

void NoteChanged(const Instance& instance, const CopyFacts& run) try {
  Copy copy(instance, {run.project, run.name});
  const std::string work = Fetch(copy, kMaxSize, Refs::kWorkOnly).work;
  std::vector<std::string> paths;
  for (const git::RawChange& change :
       git::Diff(copy.side().git(), copy.side().facts().applied, work))
    paths.push_back(change.path);
  KeepAsSent(copy);
  exposure::Notes notes;
  notes.AddNote("changed in the copy, so it is not replaced until they are taken:", paths);
  notes.Print(std::cerr);
} catch (const Error& error) {
  support::LogWarning(error.what());
}

/// In a process of its own, which a signal simply kills. Returns its exit status.
int SetUp(const Instance& instance, const CopyFacts& facts, pid_t parent) {
  const std::string shown = Printable(facts.setup);
  std::cerr << Format("setup: {}\n", shown);
  const int status = RunInGuest(instance, facts, parent);
  Remember(instance, facts, status);
  if (status != 0) {
    std::cerr << Format(
        "setup failed (exit {}): {}. Again: limactl mcp copy {} --setup\n", status, shown,
        SidePlace(instance.configuration.directory(), facts.project, facts.name).selector);
  }
  NoteChanged(instance, facts);
  return status == 0 ? 0 : 1;
}

}  // namespace

PreparedCopy PrepareCopy(const Instance& instance, const Choice& choice,
                         const SendOptions& options) {
  std::optional<Copy> copy(std::in_place, instance, choice);
  if (options.sets_up_again && copy->side().facts().setup.empty())
    throw Error("there is no set-up command; name one: --setup COMMAND");
  Send(*copy, options).Print(std::cerr);
  const SidePlace place = copy->side().place();
  const CopyFacts facts = copy->side().facts();
  const bool is_due = !facts.setup.empty() && (facts.setup_end.empty() || options.sets_up_again);
  // Whether it can be had; it is released at once.
  const bool is_in_use = is_due && !place.TakeUse(LockKind::kExclusive);
  auto use = place.TakeUse(LockKind::kShared);
  if (!use) throw Error("the copy is being replaced or dropped; try again later");
  PreparedCopy prepared{std::move(*use), facts.project, is_in_use ? 1 : 0};
  copy.reset();
  if (is_in_use) {
    std::cerr << Format("Note: the set-up command was not run: {}\n", place.InUseText());
  } else if (is_due) {
    const pid_t parent = ::getpid();
    prepared.setup_status =
        support::RunInForeground([&] { ::_exit(SetUp(instance, facts, parent)); });
  }
  return prepared;
}

std::string SetupNote(const std::filesystem::path& instance_directory, const Choice& choice) {
  const auto facts = SidePlace(instance_directory, choice.project, choice.name).ReadFacts();
  if (!facts || facts->setup.empty() || facts->setup_end == "0") return "";
  return Format("The set-up command `{}` has {}.\n", Printable(facts->setup),
                facts->setup_end.empty() ? "not come to its end"
                                         : Format("failed (exit {})", facts->setup_end));
}

}  // namespace copy
