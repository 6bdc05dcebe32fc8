// SPDX-License-Identifier: Apache-2.0
#include "copy/losses.h"

#include "support/errors.h"
#include "support/files.h"
#include "support/regex.h"

namespace copy {
namespace {

namespace fs = std::filesystem;
using git::RawChange;

/// The changes that undo what was sent beyond the user's commit: their path is there as it was.
std::vector<std::string> TakenBack(const SideRepository& side,
                                   const std::vector<RawChange>& changes) try {
  const CopyFacts& facts = side.facts();
  if (facts.sent == facts.base) return {};
  std::map<std::string, RawChange> sent;
  for (RawChange& change : git::Diff(side.git(), facts.base, facts.sent)) {
    sent.emplace(change.path, change);
  }
  std::vector<std::string> paths;
  for (const RawChange& change : changes) {
    const auto own = sent.find(change.path);
    if (own == sent.end()) continue;
    if (change.mode == own->second.old_mode && change.id == own->second.old_id)
      paths.push_back(change.path);
  }
  return paths;
} catch (const support::Error&) {
  return {};  // git gc has deleted the base; take --undo is left
}

/// The text with what `ident` writes left out.
std::string WithoutIdent(std::string text) {
  static const support::Regex ident(R"(\$Id(:[^$\n]*)?\$)", support::Regex::kLatin1);
  ident.ReplaceAll(text, "$Id$");
  return text;
}

/// Of these files, those that would be others if git had stored them and checked them out.
std::vector<std::string> NotKept(const Git& users, const fs::path& top,
                                 const std::vector<std::string>& paths, const fs::path& scratch) {
  if (paths.empty()) return {};
  fs::create_directories(scratch / "clean");
  const Git git = users.With({{"GIT_OBJECT_DIRECTORY", (scratch / "clean").string()},
                              {"GIT_INDEX_FILE", (scratch / "index").string()}});
  std::string entries;
  for (const auto& [path, id] : CleanIds(git, paths, true)) {
    entries += "100644 " + id + "\t" + path + '\0';
  }
  git.Require({"update-index", "-z", "--index-info"}, "git cannot write an index", entries);
  const fs::path written = scratch / "smudged";
  // What fails is missing then.
  (void)git.Run({"checkout-index", "-f", "-z", "--stdin", "--prefix=" + written.string() + "/"},
                git::EachWithNul(paths));
  std::vector<std::string> others;
  for (const std::string& path : paths) {
    const bool is_same =
        fs::exists(written / path) && WithoutIdent(support::ReadText(written / path)) ==
                                          WithoutIdent(support::ReadText(top / path));
    if (!is_same) others.push_back(path);
  }
  return others;
}

}  // namespace

std::map<std::string, std::string> CleanIds(const Git& users, const std::vector<std::string>& paths,
                                            bool keep) {
  std::map<std::string, std::string> ids;
  if (paths.empty()) return ids;
  std::string lines;
  for (const std::string& path : paths) lines += Quoted(path) + "\n";
  Git::Arguments hash = {"hash-object", "--stdin-paths"};
  if (keep) hash.emplace_back("-w");
  const git::GitOutput read = users.Run(hash, lines);
  const std::vector<std::string> list = git::Split(read.output, '\n');
  for (std::size_t i = 0; i < list.size() && read.ok(); ++i) ids[paths[i]] = list[i];
  return ids;
}

Losses FindLosses(const Git& users, const SideRepository& side,
                  const std::vector<RawChange>& changes, const Files& files,
                  const fs::path& scratch) {
  std::vector<std::string> different;
  for (const RawChange& change : changes) {
    const File file = At(files, change.path);
    if (file.IsRegular() && file.id != change.old_id) different.push_back(change.path);
  }
  std::vector<std::string> filtered;
  for (const auto& [path, id] : CleanIds(users, different)) {
    if (id != At(files, path).id) filtered.push_back(path);
  }
  return {TakenBack(side, changes), NotKept(users, side.place().top, filtered, scratch)};
}

}  // namespace copy
