#include "copy/target.h"

#include <array>
#include <cstdio>

#include "copy/programs.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/paths.h"
#include "support/printable.h"

namespace copy {
namespace {

using support::CallError;

constexpr std::size_t kMaxLinks = 10;
constexpr std::size_t kMaxShownName = 200;

[[noreturn]] void ThrowNonsense() {
  throw CallError("The guest's answer makes no sense. Nothing was changed.");
}

std::uint64_t ToNumber(const std::string& word) {
  constexpr std::size_t kMaxDigits = 9;
  if (word.empty() || word.size() > kMaxDigits ||
      word.find_first_not_of("0123456789") != std::string::npos) {
    ThrowNonsense();
  }
  return std::stoull(word);
}

void RequireGit(const std::vector<std::string>& report) {
  // "git git version 2.39.5 …"
  int major = 0;
  int minor = 0;
  const bool is_known =
      report.size() > 3 && std::sscanf(report[3].c_str(), "%d.%d", &major, &minor) == 2;
  if (is_known && std::pair(major, minor) >= std::pair(2, 30)) return;
  throw CallError("git 2.30 or newer is needed in the guest (found " +
                  support::Printable(is_known ? report[3].substr(0, 20) : "another") +
                  "): sudo apt-get install git");
}

DirectoryState ToState(const std::string& word) {
  constexpr std::array<std::pair<std::string_view, DirectoryState>, 6> kStates = {
      {{"absent", DirectoryState::kAbsent},
       {"ours", DirectoryState::kOurs},
       {"interrupted", DirectoryState::kInterrupted},
       {"damaged", DirectoryState::kDamaged},
       {"foreign", DirectoryState::kForeign},
       {"other", DirectoryState::kForeign}}};
  for (const auto& [name, state] : kStates) {
    if (name == word) return state;
  }
  ThrowNonsense();
}

void ReadWork(const std::vector<std::string>& report, Work& work) {
  // "work ID HEAD COMMITS FILES OTHERS LOST"; wc may print spaces
  std::vector<std::string> words;
  for (const std::string& word : report) {
    if (!word.empty()) words.push_back(word);
  }
  if (words.size() != 7 || !IsObjectId(words[1])) ThrowNonsense();
  work.id = words[1];
  work.commits = ToNumber(words[3]);
  work.files = ToNumber(words[4]);
  work.others = ToNumber(words[5]);
  work.lost = ToNumber(words[6]);
}

std::string DamagedText(const Target& target) {
  return "The copy's .git is gone or damaged; its files are still in " + target.instance + ":" +
         target.directory + ". drop --force makes a new copy.";
}

}  // namespace

std::string Count(std::uint64_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::string Work::Summary() const {
  std::string text;
  const auto add = [&text](std::uint64_t number, const std::string& what, const char* where) {
    if (number == 0) return;
    text += (text.empty() ? "" : ", ") + Count(number, what) + where;
  };
  add(commits, "commit", "");
  add(files, "file", "");
  add(others, "commit", " on other branches or in stashes");
  return text;
}

std::string MakeProgram(const Target& target, const Settings& settings,
                        std::initializer_list<std::string_view> programs) {
  const SideRepository& side = target.side;
  std::string have;
  for (const auto& [name, id] : side.refs()) have += id + "\n";
  const std::string taken = side.Ref("taken").empty() ? side.Ref("applied") : side.Ref("taken");
  Settings all = {{"G", target.directory},
                  {"ID", side.place().id},
                  {"SENT", side.Ref("sent")},
                  {"BASE", side.Ref("base")},
                  {"TAKEN", taken},
                  {"HAVE", have},
                  {"BRANCH", side.facts() ? side.facts()->branch : ""}};
  all.insert(all.end(), settings.begin(), settings.end());
  std::string text;
  for (const auto& [name, value] : all) text += name + "=" + shell::ShellQuote(value) + "\n";
  for (const std::string_view program : programs) text += program;
  return text;
}

GuestState ReadState(GuestScript& script, const Target& target) {
  GuestState state;
  try {
    while (true) {
      const std::vector<std::string> report = script.NextReport();
      const std::string& kind = report.front();
      if (kind == "decide") break;
      if (kind == "git") {
        RequireGit(report);
      } else if (kind == "work") {
        ReadWork(report, state.work);
      } else if (report.size() < 2) {
        ThrowNonsense();
      } else if (kind == "state") {
        state.directory = ToState(report[1]);
        if (report[1] == "other") {
          throw CallError(
              target.directory + " in " + target.instance +
              " is the copy of another project: --copy-dir DIR names another directory.");
        }
      } else if (kind == "have") {
        if (!IsObjectId(report[1])) ThrowNonsense();
        state.known.push_back(report[1]);
      } else if (kind == "link" && state.work.links.size() < kMaxLinks) {
        std::string name = report[1];
        for (std::size_t i = 2; i < report.size(); ++i) name += " " + report[i];
        state.work.links.push_back(support::Printable(name.substr(0, kMaxShownName)));
      }
    }
  } catch (const GuestScript::Failure& failure) {
    ThrowFailure(failure, target);
  }
  const bool is_known = !target.side.Ref("sent").empty();
  if (state.directory == DirectoryState::kForeign && is_known) {
    state.directory = DirectoryState::kDamaged;
  }
  return state;
}

void RequireOurs(const GuestState& state, const Target& target) {
  const std::string again = "limactl mcp copy " + target.instance;
  switch (state.directory) {
    case DirectoryState::kOurs:
      // git takes a shorter id for the beginning of one.
      if (state.work.id.size() != target.side.Ref("sent").size()) ThrowNonsense();
      return;
    case DirectoryState::kAbsent:
      throw CallError("The copy of " + target.project + " in " + target.instance +
                      " is gone. Make it anew: " + again);
    case DirectoryState::kInterrupted:
      throw CallError("The last copy was interrupted. Complete it: " + again);
    case DirectoryState::kDamaged:
      throw CallError(DamagedText(target));
    case DirectoryState::kForeign:
      throw CallError(target.directory + " exists in " + target.instance +
                      " and is no copy of ours. Move it away, or --copy-dir DIR.");
  }
}

void ThrowFailure(const GuestScript::Failure& failure, const Target& target) {
  const std::string& reason = failure.reason();
  if (reason == "git") {
    throw CallError("git 2.30 or newer is needed in the guest: sudo apt-get install git");
  }
  if (reason == "busy") throw CallError("Another limactl mcp works with this copy.");
  if (reason == "damaged") throw CallError(DamagedText(target));
  if (reason == "space") throw CallError(target.instance + " has no space left.");
  if (reason == "directory") {
    throw CallError(target.directory + " cannot be made in " + target.instance +
                    " (sudo wants a password): --copy-dir DIR names a directory that you can "
                    "write.");
  }
  throw CallError("git failed in " + target.instance + " (" + support::Printable(reason) +
                  "): " + failure.detail());
}

void RequireNoMount(const std::vector<lima::Mount>& mounts, const std::string& directory,
                    const std::string& instance) {
  for (const lima::Mount& mount : mounts) {
    if (!support::PathBelow(directory, mount.mount_point) &&
        !support::PathBelow(mount.mount_point, directory)) {
      continue;
    }
    throw CallError(instance + " mounts " + mount.location +
                    ": the guest would see both. Start one without: limactl start "
                    "--mount-none, or --copy-dir DIR names another directory.");
  }
}

void RequireCopy(const SidePlace& place, const CopyFacts& facts, const std::string& instance,
                 guest::Guest& guest, const support::Context& context) {
  constexpr std::size_t kLength = 64;
  const std::string marker = facts.directory + "/.git/limactl-mcp";
  std::vector<guest::Reply> replies = guest.RoundTrip(
      {guest::Request::LStat(marker), guest::Request::LStat(marker + ".next")}, context);
  const bool is_there = !replies[0].failure &&
                        replies[0].As<guest::FileAttributes>().type == guest::FileType::kRegular;
  if (is_there && replies[1].failure) {
    const auto file = guest.Open(marker, guest::OpenMode::kRead, 0, context);
    if (file->ReadSome(0, kLength, context) == place.id + "\n") return;
  }
  throw CallError(NoCopyText(facts.project, instance));
}

std::string NoCopyText(const std::string& project, const std::string& instance) {
  return "There is no copy of " + project + " in " + instance + ": limactl mcp copy " + instance;
}

}  // namespace copy
