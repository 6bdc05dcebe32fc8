// SPDX-License-Identifier: Apache-2.0
#include "copy/withheld.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>

#include "support/files.h"
#include "support/paths.h"

namespace copy {

using git::EachWithNul;
using git::Existing;
using git::GitOutput;
using git::kNoEntry;
using git::kRepositoryMode;
using git::ParseRaw;
using git::RawChange;
using git::Split;
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

constexpr const char* kWithheld = "withheld";
constexpr const char* kNoRules = "git cannot compare what is ignored";
constexpr std::chrono::minutes kRulesTime{5};

bool IsRule(const std::string& path) {
  const std::string name = fs::path(path).filename();
  return name == ".gitignore" || name == ".gitattributes";
}

/// A directory with the files of a commit that say what git ignores and filters.
fs::path CheckOutRules(const SideRepository& side, const std::string& commit) {
  const fs::path scratch = side.MakeScratch();
  const Git git = side.git().With({{"GIT_INDEX_FILE", (scratch / "index").string()}});
  git.Require({"read-tree", commit}, kNoRules);
  Paths rules = Split(git.Require({"ls-files", "-z"}, kNoRules), '\0');
  std::erase_if(rules, [](const std::string& path) { return !IsRule(path); });
  fs::create_directory(scratch / "rules");
  git.With({{"GIT_WORK_TREE", (scratch / "rules").string()}})
      .Require({"checkout-index", "-z", "--stdin", "-f"}, kNoRules, EachWithNul(rules));
  return scratch / "rules";
}

/// By path; none if no filter is set.
std::map<std::string, std::string> Filters(const Git& git, const Paths& paths) {
  // path, "filter", value
  const Paths parts = Split(
      git.Require({"check-attr", "-z", "--stdin", "filter"}, kNoRules, EachWithNul(paths)), '\0');
  std::map<std::string, std::string> filters;
  for (std::size_t i = 2; i < parts.size(); i += 3) {
    if (parts[i] != "unspecified" && parts[i] != "unset") filters[parts[i - 2]] = parts[i];
  }
  return filters;
}

}  // namespace

Paths FindWithheld(const Project& project, const Git& git, const SideRepository& side,
                   const std::string& tree, const Paths& included) {
  const Paths before = Split(support::ReadText(side.path() / kWithheld), '\0');
  const std::string sent = side.facts().sent;
  if (sent.empty() || Existing(side.git(), {sent}).empty()) return {};
  Paths added;
  Paths changed;
  bool has_new_rules = false;
  for (RawChange& raw : ParseRaw(side.git().Require(
           {"diff-tree", "-r", "-z", "--raw", "--no-renames", sent, tree}, kNoRules))) {
    has_new_rules = has_new_rules || IsRule(raw.path);
    if (raw.mode == kNoEntry || raw.mode == kRepositoryMode) continue;
    if (raw.old_mode == kNoEntry) added.push_back(raw.path);
    changed.push_back(std::move(raw.path));
  }
  std::set<std::string> withheld;
  for (const std::string& path : before) {
    if (std::find(changed.begin(), changed.end(), path) != changed.end()) withheld.insert(path);
  }
  if (has_new_rules && !changed.empty()) {
    const fs::path rules = CheckOutRules(side, sent);
    const Git old = git.With({{"GIT_DIR", project.git_directory.string()}}).In(rules, kRulesTime);
    const GitOutput ignored =
        old.Run({"check-ignore", "-z", "--no-index", "--stdin"}, EachWithNul(added));
    for (const std::string& path : Split(ignored.output, '\0')) withheld.insert(path);
    const auto filters = Filters(git, changed);
    for (const auto& [path, filter] : Filters(old, changed)) {
      const auto now = filters.find(path);
      if (now == filters.end() || now->second != filter) withheld.insert(path);
    }
  }
  for (const std::string& file : included) {
    std::erase_if(withheld, [&](auto& path) { return support::PathBelow(path, file).has_value(); });
  }
  return {withheld.begin(), withheld.end()};
}

void SaveWithheld(const SideRepository& side, const Paths& paths) {
  support::WriteText(side.path() / kWithheld, EachWithNul(paths));
}

}  // namespace copy
