#include "copy/target.h"

#include <algorithm>
#include <map>
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

/// What to do about a reason or a state of programs/. `detail`: git's words.
std::string Advice(const std::string& reason, const std::string& detail, const Target& target) {
  const std::string& instance = target.instance;
  const std::string& directory = target.directory;
  const std::map<std::string, std::string> texts = {
      {"git", "git 2.30 or newer is needed in the guest: sudo apt-get install git"},
      {"busy", "Another limactl mcp works with this copy."},
      {"absent", "The copy is gone from " + instance + ":" + directory +
                     ". Make it anew: limactl mcp copy " + instance},
      {"interrupted", "The last copy was interrupted. Complete it: limactl mcp copy " + instance},
      {"damaged", "The copy's .git is gone or damaged; its files are still in " + instance + ":" +
                      directory + ". drop --force makes a new copy."},
      {"foreign", directory + " exists in " + instance +
                      " and is no copy of ours. Move it away, or --copy-dir DIR."},
      {"other", directory + " in " + instance +
                    " is the copy of another project: --copy-dir DIR names another directory."},
      {"directory", directory + " cannot be made in " + instance +
                        " (sudo wants a password): --copy-dir DIR names a directory that you can "
                        "write."},
      {"space", instance + " has no space left (" + detail + " MB needed)."},
      {"drop", directory + " cannot be deleted in " + instance + ": " + detail}};
  const auto found = texts.find(reason);
  return found == texts.end() ? "git failed in " + instance + ": " + detail : found->second;
}

std::string TextOf(const Target& target, const std::vector<std::string>& common,
                   const Program::Settings& settings, std::string_view program) {
  const CopyFacts& facts = target.side.facts();
  Program::Settings all = {
      {"G", target.directory},
      {"ID", target.side.place().id},
      {"SENT", facts.sent},
      {"BASE", facts.base},
      {"TAKEN", facts.taken.empty() ? facts.applied : facts.taken},
      {"DONE", support::Join({facts.sent, facts.base, facts.taken, facts.applied}, " ")},
      {"HAVE", support::Join(common, "\n")},
      {"BRANCH", facts.branch}};
  all.insert(all.end(), settings.begin(), settings.end());
  std::string text;
  for (const auto& [name, value] : all) text += name + "=" + shell::ShellQuote(value) + "\n";
  return text.append(begin_program).append(work_program).append(program);
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

std::vector<std::string> CommonCommits(const SideRepository& side) {
  const CopyFacts& facts = side.facts();
  std::vector<std::string> ids = {facts.sent, facts.base, facts.work, facts.taken, facts.applied};
  std::erase(ids, "");
  std::vector<std::string> common = Existing(side.git(), ids);
  if (common.size() < ids.size()) common.clear();
  return common;
}

Program::Program(const Target& target, const std::vector<std::string>& common,
                 const Settings& settings, std::string_view text)
    : pipe(target.guest, TextOf(target, common, settings, text)), target_(target) {
  for (auto report = NextReport(); report.front() != "decide"; report = NextReport()) {
    ReadReport(std::move(report));
  }
  const bool is_known = !target.side.facts().sent.empty();
  if (state.directory == "foreign" && is_known) state.directory = "damaged";
  if (state.directory == "ours" && state.work.empty()) state.directory = "damaged";
}

std::vector<std::string> Program::NextReport() {
  std::vector<std::string> words = pipe.NextReport();
  if (words.front() != "fail") return words;
  words.resize(3);
  const std::string detail = words[2].empty()
                                 ? pipe.LastMessage()
                                 : support::Printable(words[2].substr(0, GuestPipe::kMaxMessage));
  throw Failure(Advice(words[1], detail, target_), words[1]);
}

void Program::ReadReport(std::vector<std::string> words) {
  constexpr std::size_t kMaxLinks = 10;
  constexpr std::size_t kMaxName = 200;
  const std::string kind = words.front();
  words.erase(words.begin());
  const std::string rest = support::Join(words, " ");
  if (kind == "git" && !IsNewEnough(rest, 30)) throw CallError(Advice("git", "", target_));
  if (kind == "state") state.directory = rest;
  if (kind == "have") state.known.push_back(rest);
  if (kind == "files") state.files = ToNumber(rest);
  if (kind == "work") {
    words.resize(4);
    // git takes a shorter id for the beginning of one.
    if (!IsObjectId(words[0]) || words[0].size() != target_.side.facts().sent.size()) {
      ThrowNonsense();
    }
    state.work = words[0];
    state.commits = ToNumber(words[1]);
    state.others = ToNumber(words[2]);
    state.lost = ToNumber(words[3]);
  }
  if (kind == "link" && state.links.size() < kMaxLinks) {
    state.links.push_back(support::Printable(rest.substr(0, kMaxName)));
  }
}

void Program::RequireOurs() const {
  if (state.directory != "ours") throw CallError(Advice(state.directory, "", target_));
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
