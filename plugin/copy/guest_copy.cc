// SPDX-License-Identifier: Apache-2.0
#include "copy/guest_copy.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <fstream>
#include <future>
#include <iostream>
#include <map>

#include "copy/copy.h"
#include "copy/lend.h"
#include "copy/programs.h"
#include "copy/set_aside.h"
#include "git/git.h"
#include "git/objects.h"
#include "shell/shell_quote.h"
#include "shell/shells.h"
#include "support/context.h"
#include "support/errors.h"
#include "support/join.h"
#include "support/printable.h"
#include "support/units.h"

namespace copy {

using git::Existing;
using git::IsNewEnough;
using git::Split;
using git::Unchanged;
namespace {

using support::Clock;
using support::Error;
using support::Format;
using support::Printable;

/// How long the guest may send nothing.
constexpr std::chrono::seconds kSilence{60};
/// How long any call may take.
constexpr std::chrono::hours kTotal{1};

/// Bytes of reports, and of messages.
constexpr std::size_t kMaxReports = std::size_t{4} << 20;

/// Branches, repositories and the like that were not taken: each costs a git on the host.
constexpr std::size_t kMaxUntaken = 1000;

/// Bytes of the guest's message that are shown.
constexpr std::size_t kMaxMessage = 300;

constexpr std::chrono::milliseconds kInterval{200};

constexpr const char* kSilent = "The guest was silent for 60s";
constexpr const char* kTooMuch = "The guest reports too much";

const std::string kFunctions = std::string(look_program) + std::string(untaken_program);

[[noreturn]] void Stop(const std::string& problem) {
  throw Error(Unchanged(problem));
}

[[noreturn]] void ThrowInvalid(const Site& site) {
  throw Error("{} Check it with: limactl mcp doctor {}",
              Unchanged("The guest sent an invalid reply"), site.place.instance);
}

std::uint64_t ToNumber(const std::string& word, const Site& site) {
  constexpr std::size_t kMaxDigits = 9;
  const bool is_number = !word.empty() && word.size() <= kMaxDigits &&
                         word.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) ThrowInvalid(site);
  return std::stoull(word);
}

/// The error for a reason or a state of programs/. `detail`: git's message.
std::string Advice(const std::string& reason, const std::string& detail, const Site& site) {
  const std::string& instance = site.place.instance;
  const std::string& directory = site.facts.directory;
  const std::string drop = Format("limactl mcp drop {}{}", site.place.arguments,
                                  reason == "directory" ? "" : " --force");
  const std::string rescue =
      Format("To get its files: `{}`. Then `{}`", FilesCommand(instance, directory), drop);
  const std::string elsewhere =
      site.place.ReadFacts() ? drop + ", then --copy-dir DIR" : "--copy-dir DIR";
  const bool is_aside = !ListSetAside(site.place.instance_directory, &site.place).empty();
  const std::string undo = Format("limactl mcp drop {} --undo", site.place.arguments);
  const std::map<std::string, std::string> texts = {
      {"git", "git 2.30 or newer is needed in the guest: sudo apt-get install git"},
      {"busy", "Another limactl mcp works with this copy."},
      {"absent", Format("The copy is gone from {}:{}. Make it anew: limactl mcp copy {}", instance,
                        directory, site.place.selector)},
      {"interrupted", Format("The last copy was interrupted. Complete it: limactl mcp copy {}",
                             site.place.selector)},
      {"damaged", Format("The copy's .git is damaged. {}", rescue)},
      {"unmarked", Format("{} in {} is no longer the copy: its .git is gone or another one. {}, "
                          "which leaves the directory",
                          directory, instance, rescue)},
      {"dropped", Format("The last drop was interrupted. Complete it: limactl mcp drop {}",
                         site.place.arguments)},
      {"foreign",
       Format("{} exists in {} and is no copy of ours. Move it away, or {}.{}", directory, instance,
              elsewhere, is_aside ? " If it was dropped: " + undo : "")},
      {"other", Format("{} in {} is the copy of another project: {} names another directory.",
                       directory, instance, elsewhere)},
      {"directory", Format("{} cannot be made in {} (the guest's user may not write there): "
                           "{} names a directory that you can write.",
                           directory, instance, elsewhere)},
      {"space", Format("{} has no space left ({} MB needed).", instance, detail)},
      {"way", Format("{} is ignored in the copy, which would now get another file there. "
                     "Move it away in {}:{}, then again.",
                     detail, instance, directory)},
      {"add", Format("git cannot add the files of the copy in {}:{}: {}. To get them: `{}`",
                     instance, directory, detail, FilesCommand(instance, directory))},
      {"unadded", Format("git cannot read all files of the copy in {}:{}. Nothing was changed.",
                         instance, directory)},
      {"checkpoint",
       Format("git cannot make a checkpoint in {}: {}. Nothing was changed.", instance, detail)},
      {"unknown", Format("There is no {}. See: limactl mcp log {}", detail, site.place.arguments)},
      {"lost",
       Format("Checkpoint #{} has lost objects in the guest. Nothing was changed.", detail)},
      {"changing", Format("{} is written all the time, so nothing was changed. End what writes it, "
                          "then again.",
                          detail)},
      {"device", Format("{} is on another file system than ~/.cache in {}. To delete it: "
                        "limactl mcp drop {} --purge",
                        directory, instance, site.place.arguments)},
      {"rename", Format("The copy cannot be moved in {}: {}", instance, detail)},
      {"delete", Format("The copy cannot be deleted in {}: {}", instance, detail)}};
  const auto found = texts.find(reason);
  return found == texts.end() ? Format("git failed in {}: {}", instance, detail) : found->second;
}

shell::Script ScriptOf(const Site& site, const Settings& settings, const std::string& program) {
  const auto& [place, facts] = site;
  std::vector<std::string> names;
  for (const SetAside& each : ListSetAside(place.instance_directory, &place))
    names.push_back(each.name);
  Settings all = {{"G", facts.directory},
                  {"ID", place.id},
                  {"SENT", facts.sent},
                  {"BASE", facts.base},
                  {"TAKEN", facts.applied},
                  {"DONE", support::Join({facts.sent, facts.base, facts.applied}, " ")},
                  {"BRANCH", facts.branch},
                  {"RECORDS", support::Join(names, " ")},
                  {"LENT", support::Join(LentNames(facts), "\n")},
                  {"ONLY_STATE", ""},
                  {"STATE", ""},
                  {"NOTE", ""},
                  {"RESCUE", ""},
                  {"TRIES", "60"}};
  all.insert(all.end(), settings.begin(), settings.end());
  std::string text;
  for (const auto& [name, value] : all) text += name + "=" + shell::ShellQuote(value) + "\n";
  return {text + "begin\n" + program + "\nexit 0", kFunctions};
}

/// The last line that the guest's programs have printed, printable.
std::string LastMessage(const std::string& error) {
  std::vector<std::string> lines = Split(error, '\n');
  std::erase(lines, "");
  return lines.empty() ? "no reason given" : Printable(lines.back().substr(0, kMaxMessage));
}

/// A full name of a ref, or "detached".
std::string ReadSource(const std::string& name, const Site& site) {
  constexpr std::size_t kMaxName = 1000;
  const bool is_source = name == "detached" || name.starts_with("refs/");
  if (!is_source || name.size() > kMaxName) ThrowInvalid(site);
  return name;
}

/// "NUMBER TIME ID FROM FILES NOTE"
Checkpoint ReadCheckpoint(const std::string& line, const Site& site) {
  constexpr std::size_t kMaxNote = 200;
  constexpr std::size_t kWords = 5;
  std::vector<std::string> words = Split(line, ' ');
  if (words.size() < kWords || !IsObjectId(words[2])) ThrowInvalid(site);
  const std::string note = support::Join({words.begin() + kWords, words.end()}, " ");
  std::time_t time = 0;
  std::from_chars(words[1].data(), words[1].data() + words[1].size(), time);
  return {.number = ToNumber(words[0], site),
          .files = ToNumber(words[4], site),
          .time = time,
          .id = words[2],
          .note = Printable(note.substr(0, kMaxNote))};
}

void ReadReport(const std::string& line, const Site& site, GuestState& state) {
  constexpr std::size_t kMaxName = 1000;
  std::vector<std::string> words = Split(line, ' ');
  const std::string kind = words.empty() ? "" : words.front();
  const std::string rest = line.substr(std::min(kind.size() + 1, line.size()));
  words.resize(4);
  // git takes a shorter id for the beginning of one.
  const auto read_id = [&](const std::string& id) {
    if (!IsObjectId(id) || id.size() != site.facts.sent.size()) ThrowInvalid(site);
    return id;
  };
  if (kind == "git" && !IsNewEnough(line, 30)) throw Error(Advice("git", "", site));
  if (kind == "state") state.directory = rest;
  if (kind == "have") state.known.push_back(rest);
  if (kind == "work") {
    state.work = read_id(words[1]);
    state.untaken.commits = ToNumber(words[2], site);
    state.untaken.files = ToNumber(words[3], site);
  }
  if (kind == "head") state.head = ReadSource(rest, site);
  if (kind == "ref") {
    state.untaken.refs.push_back({read_id(words[1]), ReadSource(words[2], site)});
  }
  if (kind == "aside") state.aside.push_back(rest.substr(0, kMaxName));
  if (kind == "now") state.now = ToNumber(words[1], site);
  if (kind == "undone") {
    state.undone = ToNumber(words[1], site);
    state.before = ToNumber(words[2], site);
  }
  if (kind == "checkpoint") state.checkpoints.push_back(ReadCheckpoint(rest, site));
  if (kind == "rest" || kind == "note") {
    const std::size_t name = words[1].size() + 1;
    if (rest.size() <= name) ThrowInvalid(site);
    (kind == "rest" ? state.untaken.rest : state.untaken.notes)
        .push_back({words[1], Printable(rest.substr(name, kMaxName))});
  }
}

/// Shows on a terminal how much was transferred, or how long git works, after two seconds.
class Progress {
 public:
  explicit Progress(std::string what) : what_(std::move(what)) {}
  ~Progress() {
    if (shown_ != Clock::time_point()) std::cerr << "\x1b[K" << std::flush;
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Show(std::uint64_t bytes) { Show(Format("{}MiB", bytes >> 20U)); }

  void ShowSeconds() {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - made_);
    Show(Format("{}s", seconds.count()));
  }

 private:
  void Show(const std::string& amount) {
    constexpr std::chrono::seconds kQuiet{2};
    const auto now = Clock::now();
    if (now - made_ < kQuiet || now - shown_ < kInterval || ::isatty(STDERR_FILENO) == 0) return;
    shown_ = now;
    // The next output replaces it.
    std::cerr << what_ << ": " << amount << "\x1b[K\r" << std::flush;
  }

  const std::string what_;
  const Clock::time_point made_ = Clock::now();
  Clock::time_point shown_;
};

struct Ended {
  std::optional<int> status;
  std::string error;
};

/// Runs a script to its end, or until `on_output` returns false. Calls `show` while it waits.
///
/// The script runs in another thread, and this one only watches, since no single timeout fits: git
/// may work for many minutes without output, but a guest that sends nothing for kSilence hangs. To
/// tell them apart, beat() of look.sh prints an empty line to standard error while git works. The
/// script's context is therefore its own, and stopped here for both limits. Even then, end.get()
/// must wait for the thread: it still uses `sink` and the callers' variables.
Ended RunWatched(guest::Guest& guest, const shell::Script& script,
                 const std::function<bool(std::string_view)>& on_output,
                 const std::function<void()>& show, const support::Context& given = {}) {
  std::string error;
  std::atomic<std::uint64_t> heard = 0;
  shell::FunctionSink sink([&](shell::Stream stream, std::string_view bytes) {
    heard += bytes.size();
    if (stream == shell::Stream::kOutput) return on_output(bytes);
    return (error += bytes).size() <= kMaxReports;
  });
  const support::Context context = given.WithTimeout(kTotal);
  support::StopSource stop;
  auto end = std::async(std::launch::async,
                        [&] { return guest.shells().RunScript(script, sink, stop.context()); });
  bool is_silent = false;
  std::uint64_t seen = 0;
  Clock::time_point touched = Clock::now();
  while (end.wait_for(kInterval) != std::future_status::ready) {
    show();
    if (std::exchange(seen, heard) != heard) touched = Clock::now();
    is_silent = is_silent || Clock::now() - touched > kSilence;
    const bool is_over = is_silent || context.stop_reason() != support::StopReason::kNone;
    if (is_over) stop.Stop(support::StopReason::kDeadline);
  }
  try {
    const std::optional<int> status = end.get().exit_status;
    if (error.size() > kMaxReports) Stop(kTooMuch);
    return {status, error};
  } catch (const support::Stopped&) {
    Stop(is_silent ? kSilent : "The guest took too long");
  }
}

}  // namespace

std::vector<std::string> CommonCommits(const SideRepository& side) {
  const std::vector<std::string> ids = side.facts().Commits();
  std::vector<std::string> common = Existing(side.git(), ids);
  if (common.size() < ids.size()) common.clear();
  return common;
}

GuestState CallGuest(Copy& copy, const Settings& settings, const std::string& program) {
  return CallGuest(copy.side(), copy.guest(), settings, program);
}

GuestState CallGuest(const Site& site, guest::Guest& guest, const Settings& settings,
                     const std::string& program, const support::Context& context) try {
  std::string output;
  Progress progress(Format("git works in {}", site.place.instance));
  const Ended ended = RunWatched(
      guest, ScriptOf(site, settings, program),
      [&](std::string_view bytes) { return (output += bytes).size() <= kMaxReports; },
      [&] { progress.ShowSeconds(); }, context);
  if (output.size() > kMaxReports) Stop(kTooMuch);
  GuestState state;
  for (const std::string& line : Split(output, '\n')) {
    if (line.starts_with("fail ")) {
      const std::string reason = Split(line, ' ').at(1);
      if (reason == "directory") return {.directory = reason};
      const std::size_t detail = std::string_view("fail  ").size() + reason.size();
      throw Error(Advice(reason,
                         line.size() <= detail ? LastMessage(ended.error)
                                               : Printable(line.substr(detail, kMaxMessage)),
                         site));
    }
    ReadReport(line, site, state);
    if (state.untaken.refs.size() + state.untaken.rest.size() + state.aside.size() +
            state.checkpoints.size() >
        kMaxUntaken)
      Stop(kTooMuch);
  }
  if (ended.status == 0) return state;
  throw Error("The guest's part of this ended: {}", LastMessage(ended.error));
} catch (const support::ConnectionLost&) {
  // Its text says that nothing was changed.
  throw Error("The connection to {} was lost; try again.", site.place.instance);
}

GuestState CommitGuestWork(Copy& copy, const std::vector<std::string>& common,
                           const Settings& settings, bool is_counted) {
  Settings all = settings;
  all.emplace_back("HAVE", support::Join(common, "\n"));
  const CopyFacts& facts = copy.side().facts();
  if (Held(copy.side(), {facts.taken}).contains(facts.taken)) {
    all.emplace_back("TAKEN", facts.taken);
    all.emplace_back("DONE",
                     support::Join({facts.sent, facts.base, facts.taken, facts.applied}, " "));
  }
  GuestState state =
      CallGuest(copy, all, "look\n[ \"$state\" != ours ] || [ \"$ONLY_STATE\" ] || work");
  if (state.directory.empty()) ThrowInvalid(copy.side());
  std::erase_if(state.known, [&](const std::string& id) {
    return std::find(common.begin(), common.end(), id) == common.end();
  });
  const bool is_gone = state.directory == "foreign" && !copy.side().facts().sent.empty();
  if (is_gone) state.directory = "unmarked";
  if (state.directory == "ours" && state.work.empty()) state.directory = "damaged";
  if (!state.work.empty())
    CompareWithHost(copy.side(), is_counted ? state.work : "", state.untaken);
  return state;
}

void RequireOurs(const Site& site, const GuestState& state) {
  if (state.directory != "ours") throw Error(Advice(state.directory, "", site));
}

void SendFile(Copy& copy, const std::filesystem::path& path, const std::string& to,
              std::uint32_t permissions) try {
  constexpr std::streamsize kPiece = 262144;
  const auto quiet = [&] { return support::Context().WithTimeout(kSilence); };
  const auto file = copy.guest().Open(to, guest::OpenMode::kCreateExclusive, permissions, quiet());
  std::ifstream source(path, std::ios::binary);
  std::string piece(kPiece, '\0');
  std::uint64_t sent = 0;
  Progress progress("Sending");
  while (source.read(piece.data(), kPiece), source.gcount() > 0) {
    const auto size = static_cast<std::size_t>(source.gcount());
    file->Write(sent, std::string_view(piece).substr(0, size), quiet());
    sent += size;
    progress.Show(sent);
  }
} catch (const support::Stopped&) {
  Stop(kSilent);
}

void ReceivePack(Copy& copy, const std::string& program, const std::string& revisions,
                 std::uint64_t max_size, const std::function<bool(std::string_view)>& on_bytes) {
  std::atomic<std::uint64_t> received = 0;
  Progress progress("Receiving");
  RunWatched(
      copy.guest(), ScriptOf(copy.side(), {{"REVISIONS", revisions}}, program),
      [&](std::string_view bytes) {
        received += bytes.size();
        return received <= max_size && on_bytes(bytes);
      },
      [&] { progress.Show(received); });
  if (received > max_size) {
    Stop(Format("The pack has more than {}; raise --max-size", support::FormatByteCount(max_size)));
  }
}

}  // namespace copy
