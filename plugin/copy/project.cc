// SPDX-License-Identifier: Apache-2.0
#include "copy/project.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "copy/rules.h"
#include "copy/side_repository.h"
#include "exposure/report.h"
#include "support/environment.h"
#include "support/errors.h"
#include "support/files.h"
#include "support/join.h"
#include "support/printable.h"
#include "support/units.h"

namespace copy {

using git::EachWithNul;
using git::GitOutput;
using git::IsNewEnough;
using git::KeyAndValue;
using git::kRepositoryMode;
using git::ParseRaw;
using git::RawChange;
using git::Split;
namespace {

namespace fs = std::filesystem;
using support::Error;

void ReadHead(const Git& users, Project& project) {
  const GitOutput head = users.Run(
      {"rev-list", "-1", "--no-commit-header", "--format=%H%n%T%n%cd", "--date=raw", "HEAD", "--"});
  const std::vector<std::string> lines = Split(head.output, '\n');
  if (lines.size() != 3) {
    const bool is_unborn = !users.Run({"rev-parse", "-q", "--verify", "HEAD"}).ok();
    if (!is_unborn) throw Error("git cannot read HEAD: {}", head.error_line);
    throw Error("There is no commit yet: git add -A && git commit --allow-empty -m first");
  }
  project.head = lines[0];
  project.head_tree = lines[1];
  project.head_date = "@" + lines[2];
  const GitOutput branch = users.Run({"symbolic-ref", "-q", "--short", "HEAD"});
  // 1: HEAD is a commit.
  if (branch.status != 0 && branch.status != 1)
    throw Error("git cannot read the branch: {}", branch.error_line);
  project.branch = branch.ok() ? branch.Line() : "detached";
}

void ReadSettings(const Git& users, Project& project) {
  const GitOutput settings = users.Run(
      {"config", "-z", "--get-regexp",
       R"(^(user\.(name|email)|remote\..*\.promisor|extensions\.partialclone|filter\..*\.(clean|process))$)"});
  // 1: none is set.
  if (settings.status > 1) throw Error("git cannot read its settings: {}", settings.error_line);
  for (const std::string& setting : Split(settings.output, '\0')) {
    const auto [key, value] = KeyAndValue(setting);
    if (key == "user.name" && !value.empty()) project.user_name = value;
    if (key == "user.email" && !value.empty()) project.user_email = value;
    if (key.starts_with("remote.") || key.starts_with("extensions.")) project.is_partial = true;
    const std::size_t name = std::string_view("filter.").size();
    if (key.starts_with("filter.")) project.filters.insert(key.substr(name, key.rfind('.') - name));
  }
  project.filters.erase("lfs");
}

/// What git ignores besides .gitignore; the later line wins.
std::string ReadExcludes(const Project& project, const Git& users, const std::string& own) {
  const std::string usual = support::ConfigHome(support::OwnEnvironment()) + "/git/ignore";
  const std::string file =
      users.Run({"config", "--type=path", "--default", usual, "core.excludesFile"}).Line();
  std::string text =
      support::ReadText(project.top / file) + "\n" + support::ReadText(project.top / own) + "\n";
  std::erase(text, '\0');  // it becomes part of a program
  return text;
}

/// The files that git could not read; it went on with the committed versions.
std::vector<std::string> Unread(const std::string& error) {
  std::vector<std::string> lines;
  for (const std::string& line : Split(error, '\n')) {
    if (line.starts_with("error: ") || line.starts_with("warning: could not open")) {
      lines.push_back(line.substr(line.find(' ') + 1));
    }
  }
  return lines;
}

/// `names`: sorted.
bool IsAmong(const std::vector<std::string>& names, const std::string& name) {
  return std::binary_search(names.begin(), names.end(), name);
}

constexpr const char* kNoTree = "git cannot write the working tree";

/// Puts back in the index what HEAD has there, or nothing.
void LeaveOut(const Git& git, const Project& project, const std::vector<std::string>& names) {
  git.With({{"GIT_LITERAL_PATHSPECS", "1"}})
      .Require({"reset", "-q", "--pathspec-from-file=-", "--pathspec-file-nul", project.head},
               support::Format("git cannot leave out {}", names.front()), EachWithNul(names));
}

/// What the copy lacks, since git keeps it elsewhere or ignores it.
void NoteLeftBehind(const Project& project, const Git& git, bool has_lent, exposure::Notes& notes) {
  std::error_code none;
  for (const char* name : {"MERGE_HEAD", "rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD"}) {
    if (!fs::exists(project.index.parent_path() / name, none)) continue;
    notes.Add("Note: a merge or rebase is in progress: the copy has its files only.");
    break;
  }
  const bool is_sparse = git.Run({"config", "--type=bool", "core.sparseCheckout"}).Line() == "true";
  std::vector<std::string> unwatched;
  std::vector<std::string> modules;
  std::vector<std::string> annexed;
  // TAG, blank, MODE, ID, STAGE, tab, name
  for (const std::string& line : Split(git.Run({"ls-files", "-s", "-v", "-z"}).output, '\0')) {
    const std::string name = line.substr(line.find('\t') + 1);
    const bool is_assumed = line.front() >= 'a' && line.front() <= 'z';
    if (is_assumed || (line.front() == 'S' && !is_sparse)) unwatched.push_back(name);
    const std::string_view mode = std::string_view(line).substr(2);
    if (mode.starts_with(kRepositoryMode)) modules.push_back(name);
    if (!mode.starts_with(exposure::kLinkMode)) continue;
    const std::string target = fs::read_symlink(project.top / name, none);
    if (target.find(".git/annex/objects/") != std::string::npos) annexed.push_back(name);
  }
  notes.AddNote("as committed, since the index does not watch it:", unwatched);
  notes.AddNote("submodules stay behind:", modules);
  notes.AddNote("links of git-annex, whose files stay behind:", annexed);
  if (HasLargeFiles(git, "--cached")) notes.Add("Note: files of git LFS are pointers in the copy.");
  const std::string ignored =
      git.Run({"ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory"}).output;
  const auto count = std::count(ignored.begin(), ignored.end(), '\0');
  if (count > 0) {
    notes.Add((count == 1
                   ? "Note: 1 ignored file or directory stays behind"
                   : support::Format("Note: {} ignored files or directories stay behind", count)) +
              (has_lent ? ", but for what is lent." : "."));
  }
}

/// Writes the tree of the working tree with the index of `git`; puts back repositories in it.
std::string WriteTree(const Git& git, const Project& project, exposure::Notes& notes) {
  const GitOutput added =
      git.Run({"-c", "advice.addEmbeddedRepo=false", "add", "-A", "--sparse", "--ignore-errors"});
  if (added.status > 1 && project.is_partial) throw Error(kPartialText);
  if (added.status > 1)
    throw Error("git cannot read the working tree or {}: {}", project.index.string(),
                added.error_line);
  if (!added.ok()) {
    notes.AddNote("as committed or not copied, since git could not add it:", Unread(added.error));
  }
  const std::vector<RawChange> changes =
      ParseRaw(git.Require({"diff-index", "--cached", "--no-renames", "--raw", "-z", project.head},
                           "git cannot compare the working tree with HEAD"));
  const std::vector<std::string> links = GitLinks(changes);
  if (!links.empty()) {
    LeaveOut(git, project, links);
    notes.AddNote("not copied, since they are repositories of their own:", links);
  }
  return git.Require({"write-tree"}, kNoTree);
}

}  // namespace

fs::path FindProject(fs::path project) {
  std::error_code error;
  if (project.empty()) project = fs::current_path(error);
  if (error) throw Error("the current directory is gone; change to your project");
  const bool is_home = fs::equivalent(project, support::EnvironmentVariable("HOME"), error);
  if (is_home || project == project.root_path()) {
    throw Error("{} {}; run this inside a project", project.string(),
                is_home ? "is your home directory" : "is the root directory");
  }
  return project;
}

std::optional<fs::path> FindRepository(fs::path directory) {
  std::error_code unknown;
  while (!fs::exists(fs::symlink_status(directory / ".git", unknown))) {
    if (directory == directory.root_path()) return std::nullopt;
    directory = directory.parent_path();
  }
  return directory;
}

std::string FindProjectTop() {
  const fs::path directory = FindProject();
  const Git users = Git::Users(directory, -1);
  const GitOutput top = users.Run({"rev-parse", "--show-toplevel"});
  if (top.ok()) return FindProject(top.Line()).string();
  if (top.error_line.find("not a git repository") != std::string::npos) {
    throw Error("{} is not in a git repository: git init, and commit once.", directory.string());
  }
  if (users.Run({"rev-parse", "--is-bare-repository"}).Line() == "true") {
    throw Error(
        "{} has core.bare set: it is a repository without files. If it has some: git config "
        "core.bare false",
        directory.string());
  }
  // All lines, since git says what to do.
  std::string text = top.error;
  std::erase(text, '\t');
  std::vector<std::string> lines = Split(text, '\n');
  std::erase(lines, "");
  throw Error(support::Printable(support::Join(lines, " ")));
}

Project ReadProject(const fs::path& top, const Git& users) {
  const std::string version = users.Require({"version"}, "git does not run on this host");
  if (!IsNewEnough(version, 34)) {
    throw Error("git 2.34 or newer is needed here (found {})",
                support::Printable(version.substr(0, 60)));
  }
  const std::vector<std::string> lines = Split(
      users.Require({"rev-parse", "--show-object-format", "--git-path", "objects", "--git-path",
                     "index", "--git-path", "shallow", "--git-path", "info/exclude"},
                    support::Format("git cannot read {}", top.string())),
      '\n');
  if (lines.size() != 5) throw Error("{}: a path with a line break cannot be copied", top.string());
  Project project;
  project.top = top;
  project.format = lines[0];
  project.objects = fs::weakly_canonical(top / lines[1]);
  project.index = fs::weakly_canonical(top / lines[2]);
  project.shallow = fs::weakly_canonical(top / lines[3]);
  ReadHead(users, project);
  ReadSettings(users, project);
  project.excludes = ReadExcludes(project, users, lines[4]);
  return project;
}

Snapshot TakeSnapshot(const Project& project, const Git& users, const SideRepository& side,
                      const std::vector<std::string>& lent) {
  const fs::path index = side.path() / "index";
  Snapshot snapshot;
  const Git git = users.With({{"GIT_INDEX_FILE", index.string()},
                              {"GIT_OBJECT_DIRECTORY", (side.path() / "objects").string()}});
  std::error_code none;
  fs::remove(index, none);
  if (fs::exists(project.index, none)) {
    fs::copy_file(project.index, index);
    // git decides by it whether a file of the same second and size may have changed.
    fs::last_write_time(index, fs::last_write_time(project.index));
  } else {
    git.Require({"read-tree", "HEAD"}, "git cannot read HEAD");
  }
  std::string tree = WriteTree(git, project, snapshot.notes);
  const std::vector<RawChange> changes =
      ParseRaw(git.With({{"GIT_INDEX_FILE", project.index.string()}})
                   .Require({"diff-index", "--cached", "--no-renames", "--diff-filter=u", "--raw",
                             "-z", tree},
                            "git cannot compare the working tree with the index"));
  const Rules rules = ReadRules(project, git);
  std::vector<std::string> left_out = KeptByOldRules(side, rules, changes);
  if (left_out.empty()) snapshot.rules = EachWithNul(rules);
  for (const std::string& path : left_out) {
    if (!IsAmong(lent, path)) snapshot.kept.push_back(path);
  }
  std::vector<std::string> untracked;
  for (const RawChange& change : changes) {
    if (change.mode == git::kNoEntry)
      (IsAmong(lent, change.path) ? left_out : untracked).push_back(change.path);
  }
  if (!snapshot.rules.empty() && side.facts().sent.empty()) {
    snapshot.notes.AddNote(support::Count(untracked.size(), "untracked file") + " copied, too:",
                           untracked);
  }
  if (!left_out.empty()) {
    LeaveOut(git, project, left_out);
    tree = git.Require({"write-tree"}, kNoTree);
  }
  snapshot.notes.AddNote("under filters of yours, so as git stores them:",
                         {rules.begin() + 1, rules.end()});
  if (project.is_partial)
    snapshot.notes.Add("Note: this is a partial clone: the copy has no history.");
  NoteLeftBehind(project, git, !lent.empty(), snapshot.notes);
  // The dates of HEAD: the same state is the same commit.
  const Git dated =
      git.With({{"GIT_AUTHOR_DATE", project.head_date}, {"GIT_COMMITTER_DATE", project.head_date}});
  snapshot.commit =
      tree == project.head_tree
          ? project.head
          : dated.Require({"-c", "user.name=" + project.user_name, "-c",
                           "user.email=" + project.user_email, "commit-tree", "--no-gpg-sign", "-p",
                           project.head, "-m", "Uncommitted changes", tree},
                          "git cannot write a commit of the working tree");
  return snapshot;
}

bool HasLargeFiles(const Git& git, const std::string& commit) {
  return git
      .Run({"grep", "-q", "-F", "-e", "filter=lfs", commit, "--", ".gitattributes",
            "*/.gitattributes"})
      .ok();
}

std::vector<std::string> GitLinks(const std::vector<RawChange>& changes) {
  std::vector<std::string> links;
  for (const RawChange& change : changes) {
    const bool is_link = change.old_mode == kRepositoryMode || change.mode == kRepositoryMode;
    if (is_link) links.push_back(change.path);
  }
  return links;
}

}  // namespace copy
