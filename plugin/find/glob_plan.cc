#include "find/glob_plan.h"

#include <algorithm>
#include <map>
#include <utility>

namespace find {
namespace {

/// The names before the first wildcard; at least one component is left to match.
std::size_t LiteralPrefix(const GlobAlternative& alternative, bool case_sensitive) {
  if (!case_sensitive && !alternative.absolute) return 0;
  return std::min(alternative.LiteralNames(), alternative.components.size() - 1);
}

using Place = std::pair<bool, std::string>;  ///< absolute, directory

std::map<Place, std::vector<GlobAlternative>> GroupByDirectory(
    const std::vector<GlobAlternative>& alternatives, bool case_sensitive, std::size_t longest) {
  std::map<Place, std::vector<GlobAlternative>> groups;
  for (const GlobAlternative& alternative : alternatives) {
    const std::size_t length = std::min(longest, LiteralPrefix(alternative, case_sensitive));
    std::string directory;
    for (std::size_t i = 0; i < length; ++i) {
      if (i > 0) directory += '/';
      directory += alternative.components[i].literal;
    }
    GlobAlternative rest = alternative;
    rest.components.erase(rest.components.begin(),
                          rest.components.begin() + static_cast<std::ptrdiff_t>(length));
    groups[{alternative.absolute, std::move(directory)}].push_back(std::move(rest));
  }
  return groups;
}

GlobWalk MakeWalk(const Place& place, std::vector<GlobAlternative> alternatives,
                  bool case_sensitive) {
  std::optional<std::size_t> maximum_depth = 0;
  bool enters_git = false;
  for (const GlobAlternative& alternative : alternatives) {
    if (alternative.HasAnyDepth()) {
      maximum_depth.reset();
      enters_git = enters_git || NamesGitDirectory(alternative, case_sensitive);
    } else {
      enters_git = true;
      if (maximum_depth) maximum_depth = std::max(*maximum_depth, alternative.components.size());
    }
  }
  // find's filters know upper and lower case.
  std::vector<std::string> filters;
  if (case_sensitive) filters = NameFilters(alternatives);
  return {place.second, place.first,        maximum_depth,
          enters_git,   std::move(filters), GlobMatcher(std::move(alternatives), case_sensitive)};
}

}  // namespace

std::vector<GlobWalk> PlanGlob(std::string_view pattern, bool case_sensitive) {
  const std::vector<GlobAlternative> alternatives = ParseGlob(pattern);
  std::size_t longest = 0;
  for (const GlobAlternative& alternative : alternatives) {
    longest = std::max(longest, LiteralPrefix(alternative, case_sensitive));
  }
  auto groups = GroupByDirectory(alternatives, case_sensitive, longest);
  while (groups.size() > kMaximumGlobWalks) {
    groups = GroupByDirectory(alternatives, case_sensitive, --longest);
  }
  std::vector<GlobWalk> walks;
  walks.reserve(groups.size());
  for (auto& [place, members] : groups) {
    walks.push_back(MakeWalk(place, std::move(members), case_sensitive));
  }
  return walks;
}

}  // namespace find
