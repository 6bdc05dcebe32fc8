// SPDX-License-Identifier: Apache-2.0
#include "commands/copy_command.h"

#include <csignal>
#include <filesystem>
#include <functional>
#include <iostream>

#include "agents/agent.h"
#include "commands/commands.h"
#include "commands/project.h"
#include "connection/shared_connection.h"
#include "copy/apply.h"
#include "copy/copy.h"
#include "copy/set_aside.h"
#include "copy/take_notes.h"
#include "exposure/report.h"
#include "lima/home.h"
#include "paths/names.h"
#include "shell/shell_quote.h"
#include "support/environment.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/log.h"
#include "support/units.h"

namespace commands {

namespace fs = std::filesystem;

std::string FindProjectTop() {
  const std::string home = support::EnvironmentVariable("HOME");
  return FindProject(home, copy::FindTop(FindProject(home))).string();
}

/// The top of the working tree in the current directory. With `has_copy`, that of a copy is found
/// without git.
std::string FindTop(const fs::path& instance_directory, bool has_copy) {
  const auto top = has_copy ? FindRepository(fs::current_path()) : std::nullopt;
  const bool is_copied =
      top && copy::SidePlace(instance_directory, top->string()).ReadFacts().has_value();
  return is_copied ? top->string() : FindProjectTop();
}

std::uint64_t ReadMaxSize(const Parsed& parsed) {
  const auto& text = parsed["max-size"].as<std::string>();
  const auto bytes = support::ParseByteCount(text);
  if (bytes && *bytes > 0) return *bytes;
  throw support::Error("--max-size \"{}\": expected a size such as 500M or 4GiB", text);
}

CopyCommand::CopyCommand(const std::string& instance, const std::string& project,
                         const std::string& directory, const std::string& verb) {
  // Errors of write() instead: a program that stops reading, a limit on the size of files.
  (void)::signal(SIGPIPE, SIG_IGN);
  (void)::signal(SIGXFSZ, SIG_IGN);
  options_.lima_home = lima::HomeDirectory();
  options_.name = instance;
  const Instance loaded = LoadInstance(instance, false, true);
  UseSafeSearchPath(loaded.reach);
  copy::SidePlace place(loaded.configuration.directory(),
                        project.empty() ? FindTop(loaded.configuration.directory(), !verb.empty())
                                        : exposure::ResolvedOnHost(fs::absolute(project)));
  if (!project.empty()) place.arguments += " --project " + shell::ShellQuote(place.project);
  loaded.RequireOutOfReach(place.repository);
  const auto aside = copy::ListSetAside(place.instance_directory, place.project);
  if (verb == "take --undo" && !place.ReadFacts() && !aside.empty())
    place = copy::PlaceOf(place, aside.front());
  const bool may_be_aside = verb == "drop --undo" && !aside.empty();
  if (!verb.empty() && !place.ReadFacts() && !may_be_aside) {
    if (!loaded.reach.MountHolding(place.project)) throw support::Error(place.NoCopyText());
    throw support::Error("The project is mounted: there is nothing to {}. See: limactl mcp diff {}",
                         verb, instance);
  }
  side_.emplace(place, directory);
  UndoInterruptedApply();
  const bool is_aside = may_be_aside && side_->facts().sent.empty();
  copy::RequireNoMount(loaded.mounts, is_aside ? aside.front().facts : side_->facts(), instance);
}

git::Git CopyCommand::users() const {
  return git::Git::Users(side_->place().top, side_->lock());
}

void CopyCommand::UndoInterruptedApply() {
  std::error_code gone;
  if (!fs::exists(side_->place().top, gone)) return;
  const std::string undone = copy::UndoInterruptedApply(*side_);
  if (undone.empty()) return;
  has_undone_ = true;
  support::LogWarning(undone);
}

void CopyCommand::FollowProject() {
  std::error_code gone;
  if (fs::exists(project(), gone)) return;
  const std::string top = FindProjectTop();
  side_->Follow(copy::ReadProject(top, git::Git::Users(top, side_->lock())));
  UndoInterruptedApply();
}

void CopyCommand::RequireCopy() {
  if (side_->facts().sent.empty()) throw support::Error(side_->place().NoCopyText());
  FollowProject();
}

exposure::Report CopyCommand::MakeReport(const exposure::CommitChanges& changes,
                                         const std::string& branch) const {
  const paths::HostPrograms programs(agents::ObeyedFiles());
  const git::Git users = this->users();
  exposure::Report report =
      exposure::ReportOnCommits(changes, programs, users, side_->place().top, branch);
  copy::AddTakeNotes(users, changes, branch, report);
  return report;
}

exposure::Report CopyCommand::MakeReport(const std::string& from, const std::string& to,
                                         const std::string& branch,
                                         const std::map<std::string, std::string>& others) const {
  return MakeReport(exposure::ReadCommits(side_->git(), from, to, !branch.empty(), others), branch);
}

exposure::Report CopyCommand::MakeReport(const copy::GuestState& state) const {
  std::map<std::string, std::string> others;
  for (const copy::Untaken::Ref& ref : state.untaken.refs) {
    others[ref.id] = copy::MakeSource(*side_, ref.source, ref.id).branch;
  }
  return MakeReport(copy::SentOrOlder(*side_), state.work, DefaultBranch(state.head), others);
}

void CopyCommand::PrintUntaken(const copy::Target& target, const copy::Untaken& untaken) const {
  if (!untaken.empty()) std::cerr << support::Format("Not taken: {}\n", untaken.Summary());
  for (const std::string& line : copy::RestLines(target, untaken)) std::cerr << line << '\n';
}

std::string CopyCommand::DefaultBranch(const std::string& head) const {
  const std::string sent = "refs/heads/" + side_->facts().branch;
  return copy::MakeSource(*side_, head.empty() ? sent : head, "").branch;
}

copy::Target CopyCommand::OpenTarget() {
  connection::InstanceOpener opener(options_, false);
  workspace_ =
      connection::OpenWithRetries(std::bind_front(&connection::InstanceOpener::Open, &opener), {},
                                  {}, [](const std::string& status) { support::LogInfo(status); });
  return {*side_, *workspace_->guest};
}

}  // namespace commands
