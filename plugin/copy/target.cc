#include "copy/target.h"

#include <algorithm>
#include <array>
#include <memory>

#include "copy/programs.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/join.h"
#include "support/paths.h"
#include "support/printable.h"

namespace copy {
namespace {

using support::CallError;

/// By the reasons and states of programs/. %I is the instance, %G the directory, %D git's words.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kRefusals = {{
    {"git", "git 2.30 or newer is needed in the guest: sudo apt-get install git"},
    {"busy", "Another limactl mcp works with this copy."},
    {"absent", "The copy is gone from %I:%G. Make it anew: limactl mcp copy %I"},
    {"interrupted", "The last copy was interrupted. Complete it: limactl mcp copy %I"},
    {"damaged",
     "The copy's .git is gone or damaged; its files are still in %I:%G. drop --force makes a new "
     "copy."},
    {"foreign", "%G exists in %I and is no copy of ours. Move it away, or --copy-dir DIR."},
    {"other", "%G in %I is the copy of another project: --copy-dir DIR names another directory."},
    {"directory",
     "%G cannot be made in %I (sudo wants a password): --copy-dir DIR names a directory that you "
     "can write."},
    {"space", "%I has no space left."},
    {"drop", "%G cannot be deleted in %I: %D"},
    {"", "git failed in %I: %D"},
}};

[[noreturn]] void ThrowNonsense() {
  throw CallError("The guest's answer makes no sense. Nothing was changed.");
}

std::uint64_t ToNumber(const std::string& word) {
  constexpr std::size_t kMaxDigits = 9;
  const bool is_number = !word.empty() && word.size() <= kMaxDigits &&
                         word.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) ThrowNonsense();
  return std::stoull(word);
}

/// "work ID COMMITS FILES OTHERS LOST"
void ReadWork(const std::vector<std::string>& report, const Target& target, GuestState& state) {
  // git takes a shorter id for the beginning of one.
  if (report.size() != 6 || !IsObjectId(report[1]) ||
      report[1].size() != target.side.facts().sent.size()) {
    ThrowNonsense();
  }
  state.work = report[1];
  state.commits = ToNumber(report[2]);
  state.files = ToNumber(report[3]);
  state.others = ToNumber(report[4]);
  state.lost = ToNumber(report[5]);
}

void ReadReport(const std::vector<std::string>& report, const Target& target, GuestState& state) {
  constexpr std::size_t kMaxLinks = 10;
  constexpr std::size_t kMaxName = 200;
  const std::string& kind = report.front();
  const std::string rest = support::Join({report.begin() + 1, report.end()}, " ");
  if (kind == "git" && !IsNewEnough(rest, 30)) Refuse("git", "", target);
  if (kind == "state") state.directory = rest;
  if (kind == "have" && IsObjectId(rest)) state.known.push_back(rest);
  if (kind == "work") ReadWork(report, target, state);
  if (kind == "link" && state.links.size() < kMaxLinks) {
    state.links.push_back(support::Printable(rest.substr(0, kMaxName)));
  }
}

}  // namespace

std::string Count(std::uint64_t number, const std::string& what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::string GuestState::Summary() const {
  std::vector<std::string> parts;
  if (commits > 0) parts.push_back(Count(commits, "commit"));
  if (files > 0) parts.push_back(Count(files, "file"));
  if (others > 0) parts.push_back(Count(others, "commit") + " on other branches or in stashes");
  return support::Join(parts);
}

std::string MakeProgram(const Target& target, const Settings& settings,
                        std::initializer_list<std::string_view> programs) {
  const CopyFacts& facts = target.side.facts();
  std::string have;
  for (const std::string& id : {facts.sent, facts.base, facts.work, facts.taken, facts.applied}) {
    have += id.empty() ? "" : id + "\n";
  }
  Settings all = {{"G", target.directory},
                  {"ID", target.side.place().id},
                  {"SENT", facts.sent},
                  {"BASE", facts.base},
                  {"TAKEN", facts.taken.empty() ? facts.applied : facts.taken},
                  {"HAVE", have},
                  {"BRANCH", facts.branch}};
  all.insert(all.end(), settings.begin(), settings.end());
  std::string text;
  for (const auto& [name, value] : all) text += name + "=" + shell::ShellQuote(value) + "\n";
  for (const std::string_view program : programs) text += program;
  return text;
}

GuestState ReadState(GuestPipe& pipe, const Target& target) {
  GuestState state;
  try {
    while (true) {
      const std::vector<std::string> report = pipe.NextReport();
      if (report.front() == "decide") break;
      ReadReport(report, target, state);
    }
  } catch (const GuestPipe::Failure& failure) {
    Refuse(failure.reason(), failure.what(), target);
  }
  const bool is_known = !target.side.facts().sent.empty();
  if (state.directory == "foreign" && is_known) state.directory = "damaged";
  if (state.directory == "ours" && state.work.empty()) state.directory = "damaged";
  return state;
}

void RequireOurs(const GuestState& state, const Target& target) {
  if (state.directory != "ours") Refuse(state.directory, "", target);
}

void Refuse(const std::string& reason, const std::string& detail, const Target& target) {
  const auto* row = std::find_if(kRefusals.begin(), std::prev(kRefusals.end()),
                                 [&](const auto& refusal) { return refusal.first == reason; });
  std::string text(row->second);
  for (const auto& [sign, value] : {std::pair("%I", target.instance),
                                    std::pair("%G", target.directory), std::pair("%D", detail)}) {
    for (std::size_t at = 0; (at = text.find(sign, at)) != std::string::npos; at += value.size()) {
      text.replace(at, 2, value);
    }
  }
  throw CallError(text);
}

void RequireNoMount(const std::vector<lima::Mount>& mounts, const std::string& directory,
                    const std::string& instance) {
  for (const lima::Mount& mount : mounts) {
    if (!support::PathBelow(directory, mount.mount_point) &&
        !support::PathBelow(mount.mount_point, directory)) {
      continue;
    }
    throw CallError(instance + " mounts " + mount.location +
                    ": the guest would see both. Start one without: limactl start --mount-none, "
                    "or --copy-dir DIR names another directory.");
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
