// SPDX-License-Identifier: Apache-2.0
#include "copy/checkpoints.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <iostream>
#include <optional>

#include "copy/diff.h"
#include "copy/programs.h"
#include "support/errors.h"
#include "support/log.h"
#include "support/units.h"

namespace copy {
namespace {

using support::Error;
using support::Format;

const std::string kStore = std::string(checkpoint_program) + std::string(undo_program) +
                           "look\n[ \"$state\" = ours ] || exit 0\nopen_store\n";

GuestState CallStore(Copy& copy, const Settings& settings, const std::string& program) {
  copy.RequireSent();
  copy.Connect();
  GuestState state = CallGuest(copy, settings, kStore + program);
  RequireOurs(copy.side(), state);
  return state;
}

const Checkpoint& Find(const GuestState& state, const std::string& number, const SidePlace& place) {
  const auto found =
      std::find_if(state.checkpoints.begin(), state.checkpoints.end(),
                   [&](const auto& each) { return std::to_string(each.number) == number; });
  if (found != state.checkpoints.end()) return *found;
  throw Error("There is no checkpoint #{}. See: limactl mcp log {}", number, place.arguments);
}

std::string TimeOf(const Checkpoint& checkpoint) {
  const auto date = [](std::time_t time) { return support::FormatTime(time, "%Y-%m-%d", true); };
  const bool is_today = date(checkpoint.time) == date(std::time(nullptr));
  return support::FormatTime(checkpoint.time, is_today ? "%H:%M:%S" : "%Y-%m-%d %H:%M", true);
}

std::string Padded(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text + "  ";
}

std::string Line(const Checkpoint& checkpoint, bool is_now) {
  const std::string files =
      checkpoint.files == 0 ? "" : Padded(support::Count(checkpoint.files, "file"), 9);
  std::string line = Padded(Format(" #{}", checkpoint.number), 4) + Padded(TimeOf(checkpoint), 8) +
                     files + checkpoint.note;
  line.erase(line.find_last_not_of(' ') + 1);
  return line + (is_now ? "  <- now\n" : "\n");
}

}  // namespace

void KeepAsSent(Copy& copy) try {
  CallGuest(copy, {}, kStore + "NOTE=$as_sent\ncheckpoint\nthin");
} catch (const Error& error) {
  support::LogWarning(Format("undo cannot go back to what was sent: {}", error.what()));
}

void KeepState(const std::filesystem::path& instance_directory, const Choice& choice,
               guest::Guest& guest, const std::string& note, const support::Context& context) {
  const auto place = SidePlace::Find(instance_directory, choice.project, choice.name);
  const auto facts = place ? place->ReadFacts() : std::nullopt;
  if (!facts) return;
  CallGuest({*place, *facts}, guest, {{"NOTE", note}, {"TRIES", "1"}}, kStore + "checkpoint\nthin",
            context);
}

void PrintLog(Copy& copy) {
  const GuestState state = CallStore(copy, {}, "checkpoint\nthin\nlog");
  for (const Checkpoint& each : state.checkpoints)
    std::cout << Line(each, each.number == state.now);
}

void FollowLog(const Instance& instance, const Choice& choice) {
  constexpr int kInterval = 2000;  // milliseconds
  auto copy = std::make_optional<Copy>(instance, choice, "undo");
  GuestState state = CallStore(*copy, {}, "checkpoint\nthin\nlog");
  const std::shared_ptr<guest::Guest> guest = copy->connection();
  const SidePlace place = copy->side().place();
  copy.reset();
  std::uint64_t shown = 0;
  while (true) {
    for (auto each = state.checkpoints.rbegin(); each != state.checkpoints.rend(); ++each) {
      if (each->number <= shown) continue;
      std::cout << Line(*each, false) << std::flush;
      shown = each->number;
    }
    pollfd output{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
    if (::poll(&output, 1, kInterval) > 0 || !std::cout) return;
    const auto facts = place.ReadFacts();
    if (!facts) throw Error(place.NoCopyText());
    const Site site(place, *facts);
    state = CallGuest(site, *guest, {}, kStore + "list_checkpoints");
    // For a moment, while it is replaced.
    if (state.directory != "interrupted") RequireOurs(site, state);
  }
}

void Undo(Copy& copy, const std::string& number, const Ask& ask) {
  const SidePlace& place = copy.side().place();
  copy.RequireSent();
  if (ask && !place.TakeUse(LockKind::kExclusive)) {
    const auto is_wanted = ask("An agent works here. Undo now? [y/N] ");
    if (!is_wanted)
      throw Error("An agent works in this copy. To undo all the same: limactl mcp undo {}{} --yes",
                  number.empty() ? "" : number + " ", place.arguments);
    if (!*is_wanted) throw Error("Nothing was undone.");
  }
  const GuestState state = CallStore(copy, {{"N", number}}, "undo");
  const Checkpoint& target = Find(state, std::to_string(state.now), place);
  const std::string time = TimeOf(target);
  if (state.undone == 0) {
    std::cout << Format("The files are as at #{} ({}) already.\n", target.number, time);
    return;
  }
  std::cout << Format(
      "The files are as at #{} ({}): {} changed. What was before is #{}.\n"
      "Tell the agent: \"The files were put back to {}; read them again.\"\n",
      target.number, time, support::Count(state.undone, "file"), state.before, time);
}

void PrintDiffSince(Copy& copy, const std::string& number, bool only_names,
                    std::uint64_t max_size) {
  const GuestState state = CallStore(copy, {}, "checkpoint\nlog");
  const std::string& old = Find(state, number, copy.side().place()).id;
  const std::string& now = Find(state, std::to_string(state.now), copy.side().place()).id;
  FetchCheckpoints(copy, {now, old}, max_size, [&](const Git& git) {
    PrintDiff(git, {old, now}, only_names);
  });
}

}  // namespace copy
