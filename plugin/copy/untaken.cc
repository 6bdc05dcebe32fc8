// SPDX-License-Identifier: Apache-2.0
#include "copy/untaken.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "copy/set_aside.h"
#include "copy/side_repository.h"
#include "git/objects.h"
#include "paths/names.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/join.h"
#include "support/paths.h"
#include "support/units.h"

namespace copy {

using git::GitOutput;
using paths::List;
using paths::Visible;
namespace {

using support::Format;

std::string Described(const std::string& raw) {
  const std::string name = Visible(raw);
  if (name.starts_with("tags/")) return Format("tag {}", name.substr(5));
  return name.starts_with("stash-") ? name : Format("branch {}", name);
}

bool IsLeftOut(const std::string& kind) {
  return kind == "unreadable" || kind == "protected" || kind == "refused";
}

/// A name that the current directory has not: "agent-lib", "agent-lib-2".
std::string NewName(const std::string& instance, const std::string& path,
                    const std::string& extension) {
  const std::string name = instance + "-" + PlainName(path);
  std::string chosen = name + extension;
  std::error_code error;
  for (int number = 2; std::filesystem::exists(std::filesystem::symlink_status(chosen, error));
       ++number) {
    chosen = name + "-" + std::to_string(number) + extension;
  }
  return chosen;
}

std::string InGuest(const std::string& instance, const std::string& command,
                    const std::string& path) {
  return Format("limactl shell {} {} {}", instance, command, shell::ShellQuote(path));
}

/// What all names of one kind have in common: empty for the other kinds.
std::string TextOfKind(const std::string& kind, const std::string& names,
                       const std::string& instance, const std::string& directory) {
  if (kind == "unreadable") {
    return Format("not taken: git cannot read {}; `{}` lets it", names,
                  InGuest(instance, "chmod -R u+rwX", directory));
  }
  if (kind == "protected") {
    return Format("not taken: git cannot read {} of another user; `{}` lets it", names,
                  InGuest(instance, "sudo chmod -R a+rX", directory));
  }
  if (kind != "refs") return "";
  return Format("not brought: {}; `{}` brings all refs", names, BundleCommand(instance, directory));
}

std::string TextOf(const Untaken::Rest& rest, const std::string& instance,
                   const std::string& directory) {
  const auto& [kind, name] = rest;
  const std::string path = name.starts_with('/') ? name : directory + "/" + name;
  const std::string git = Format("git -C {}", shell::ShellQuote(directory));
  const std::map<std::string, std::string> texts = {
      {"refused", Format("git cannot have the name {}; `{} {}` gives it another", name,
                         InGuest(instance, "mv -n", path),
                         shell::ShellQuote(directory + "/renamed-" + PlainName(name)))},
      {"operation", Format("{}; `limactl shell {} {} status` says how to finish or abort it", name,
                           instance, git)},
      {"repository",
       Format("{} is a repository of its own; `{}` brings its files, `{}` its commits", name,
              FilesCommand(instance, path), BundleCommand(instance, path))},
      {"worktree",
       Format(
           "{} is another working tree; `{} stash -u` makes what is not committed there a stash, "
           "which take brings. Then: `limactl shell {} {} worktree remove {}`",
           name, InGuest(instance, "git -C", path), instance, git, shell::ShellQuote(path))},
      {"lfs", Format("{}; `{}` brings them, for your .git/lfs/objects", name,
                     FilesCommand(instance, directory + "/.git/lfs/objects"))},
  };
  const auto found = texts.find(kind);
  return found == texts.end() ? "" : "not taken: " + found->second;
}

}  // namespace

std::string RefName(std::string ref) {
  for (const char* prefix : {"refs/", "heads/"}) {
    if (ref.starts_with(prefix)) ref.erase(0, std::string_view(prefix).size());
  }
  return ref;
}

std::set<std::string> Held(const SideRepository& side, std::vector<std::string> ids) try {
  std::erase(ids, "");
  if (ids.empty()) return {};
  const Git users = Git::Users(side.place().top, side.lock());
  const std::vector<std::string> existing = git::Existing(users, ids);
  if (existing.empty()) return {};
  const GitOutput others =
      users.Run({"rev-list", "--stdin", "--not", "--all"}, support::Join(existing, "\n"));
  if (!others.ok() || others.is_cut) return {};  // gc has deleted some objects
  std::set<std::string> held(existing.begin(), existing.end());
  for (const std::string& id : git::Split(others.output, '\n')) held.erase(id);
  return held;
} catch (const support::Error&) {
  return {};  // the project is gone
}

std::string Untaken::Summary() const {
  std::vector<std::string> parts;
  if (commits > 0) parts.push_back(support::Count(commits, "commit"));
  if (files > 0) parts.push_back(support::Count(files, "file"));
  std::vector<std::string> names;
  for (const Ref& ref : refs) names.push_back(Described(RefName(ref.source)));
  for (const Rest& each : rest) names.push_back(each.name);
  if (!names.empty()) parts.push_back(List(names, 5));
  return support::Join(parts);
}

bool Untaken::IsUnfinished() const {
  return std::any_of(rest.begin(), rest.end(), [](const Rest& each) {
    return each.kind == "operation" || IsLeftOut(each.kind);
  });
}

void CompareWithHost(const SideRepository& side, const std::string& work, Untaken& untaken) {
  const CopyFacts& facts = side.facts();
  std::vector<std::string> ids = {work};
  for (const Untaken::Ref& ref : untaken.refs) ids.push_back(ref.id);
  std::set<std::string> taken = Held(side, ids);
  taken.insert({facts.sent, facts.applied});
  if (taken.contains(work)) untaken.commits = untaken.files = 0;
  std::erase_if(untaken.refs, [&](const auto& ref) { return taken.contains(ref.id); });
}

std::string FilesCommand(const std::string& instance, const std::string& directory) {
  const std::string name = NewName(instance, directory, "");
  // The guest's tar may ignore the first --exclude.
  return Format("mkdir {} && {} --exclude=.git -cf - . | tar --exclude='.[Gg][Ii][Tt]' -xf - -C {}",
                name, InGuest(instance, "tar -C", directory), name);
}

std::string BundleCommand(const std::string& instance, const std::string& directory) {
  return Format("{} bundle create - --all HEAD >{}", InGuest(instance, "git -C", directory),
                NewName(instance, directory, ".bundle"));
}

exposure::Notes NotesOnRest(const SideRepository& side, const Untaken& untaken) {
  const std::string& instance = side.place().instance;
  const std::string& directory = side.facts().directory;
  exposure::Notes notes;
  std::map<std::string, std::vector<std::string>> names;
  for (const auto& all : {untaken.rest, untaken.notes}) {
    for (const Untaken::Rest& rest : all) {
      names[rest.kind].push_back(rest.name);
      const std::string text = TextOf(rest, instance, directory);
      if (!text.empty()) notes.Add("Note: " + text);
    }
  }
  for (const auto& [kind, list] : names) {
    const std::string text = TextOfKind(kind, List(list, 5), instance, directory);
    if (!text.empty()) notes.Add("Note: " + text);
  }
  return notes;
}

exposure::Notes NotesOn(const SideRepository& side, const Untaken& untaken) {
  exposure::Notes notes;
  if (!untaken.empty()) notes.Add(Format("Not taken: {}", untaken.Summary()));
  notes.Add(NotesOnRest(side, untaken));
  return notes;
}

}  // namespace copy
