// SPDX-License-Identifier: Apache-2.0
#include "copy/rules.h"

#include <set>

#include "support/files.h"
#include "support/format.h"
#include "support/sha256.h"

namespace copy {

using git::kNoEntry;
using git::Split;
using support::Format;

Rules ReadRules(const Project& project, const Git& git) {
  constexpr const char* kNoRules = "git cannot list what it ignores and filters";
  const std::string files = git.Require({"ls-files", "-s", "-z", "--", ":(glob,icase)**/.gitignore",
                                         ":(glob,icase)**/.gitattributes"},
                                        kNoRules);
  Rules rules = {support::Sha256(files + project.excludes)};
  if (project.filters.empty()) return rules;
  const std::string names = git.Require({"ls-files", "-z"}, kNoRules);
  // path, "filter", value
  const std::vector<std::string> parts =
      Split(git.Require({"check-attr", "-z", "--stdin", "filter"}, kNoRules, names), '\0');
  for (std::size_t i = 2; i < parts.size(); i += 3) {
    if (project.filters.contains(parts[i])) rules.push_back(parts[i] + ' ' + parts[i - 2]);
  }
  return rules;
}

std::filesystem::path RulesFile(const SideRepository& side) {
  return side.path().string() + ".rules";
}

std::vector<std::string> KeptByOldRules(const SideRepository& side, const Rules& now,
                                        const std::vector<git::RawChange>& changes) {
  const Rules old = Split(support::ReadText(RulesFile(side)), '\0');
  if (old.empty() || old[0] == now[0]) return {};
  const std::set<std::string> present(now.begin(), now.end());
  std::set<std::string> unfiltered;
  for (const std::string& rule : old) {
    if (!present.contains(rule)) unfiltered.insert(rule.substr(rule.find(' ') + 1));
  }
  // Paths that were sent, and "MODE blob ID", tab, path of what the copy has.
  std::set<std::string> known;
  for (const Git::Arguments& arguments :
       {Git::Arguments{"ls-tree", "-r", "-z", "--name-only", side.facts().sent},
        Git::Arguments{"ls-tree", "-r", "-z", side.facts().applied}}) {
    for (std::string& line : Split(side.git().Run(arguments).output, '\0')) known.insert(line);
  }
  std::vector<std::string> kept;
  for (const git::RawChange& file : changes) {
    if (file.old_mode == kNoEntry) continue;
    const bool has =
        known.contains(Format("{} blob {}\t{}", file.old_mode, file.old_id, file.path));
    const bool is_new = file.mode == kNoEntry && !known.contains(file.path);
    if (!has && (is_new || unfiltered.contains(file.path))) kept.push_back(file.path);
  }
  return kept;
}

}  // namespace copy
