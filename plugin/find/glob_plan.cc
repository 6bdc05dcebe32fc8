#include "find/glob_plan.h"

#include <algorithm>
#include <map>
#include <utility>

namespace find {
namespace {

/// Counts the components before the first wildcard, but leaves at least one to match.
std::size_t LiteralPrefix(const GlobAlternative& alternative, bool case_sensitive) {
  if (!case_sensitive && !alternative.absolute) return 0;
  return std::min(alternative.LiteralNames(), alternative.components.size() - 1);
}

/// Groups by GlobWalk::directory, each with at most `longest` components.
std::map<std::string, std::vector<GlobAlternative>> GroupByDirectory(
    const std::vector<GlobAlternative>& alternatives, bool case_sensitive, std::size_t longest) {
  std::map<std::string, std::vector<GlobAlternative>> groups;
  for (const GlobAlternative& alternative : alternatives) {
    const std::size_t length = std::min(longest, LiteralPrefix(alternative, case_sensitive));
    std::string directory = alternative.absolute ? "/" : "";
    for (std::size_t i = 0; i < length; ++i) {
      if (i > 0) directory += '/';
      directory += alternative.components[i].literal;
    }
    GlobAlternative rest = alternative;
    rest.components.erase(rest.components.begin(),
                          rest.components.begin() + static_cast<std::ptrdiff_t>(length));
    groups[directory].push_back(std::move(rest));
  }
  return groups;
}

GlobWalk MakeWalk(const std::string& directory, std::vector<GlobAlternative> alternatives,
                  bool case_sensitive) {
  ListingRequest listing;
  listing.maximum_depth = 0;
  for (const GlobAlternative& alternative : alternatives) {
    if (alternative.HasAnyDepth()) {
      listing.maximum_depth.reset();
      listing.enters_git |= NamesGitDirectory(alternative, case_sensitive);
    } else {
      listing.enters_git = true;
      if (listing.maximum_depth) {
        listing.maximum_depth = std::max(*listing.maximum_depth, alternative.components.size());
      }
    }
  }
  listing.wants_ignored = !listing.maximum_depth;
  if (case_sensitive) listing.name_filters = NameFilters(alternatives);
  return {directory, std::move(listing), GlobMatcher(std::move(alternatives), case_sensitive)};
}

std::string Pathspec(const GlobAlternative& alternative) {
  std::string pathspec = ":(glob)";
  for (std::size_t i = 0; i < alternative.components.size(); ++i) {
    const GlobComponent& component = alternative.components[i];
    if (i > 0) pathspec += '/';
    pathspec += component.is_any_depth ? "**" : component.name_filter;
  }
  return pathspec;
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
  for (auto& [directory, members] : groups) {
    walks.push_back(MakeWalk(directory, std::move(members), case_sensitive));
  }
  return walks;
}

IncludeFilter::IncludeFilter(std::string_view include) {
  const GlobComponent any_depth = ParseGlob("**").front().components.front();
  std::vector<GlobAlternative> patterns;
  for (GlobAlternative& alternative : ParseGlob(include)) {
    if (alternative.absolute) {
      ThrowGlobError(include,
                     "include matches names below the searched directory and cannot begin with "
                     "'/': pass that directory as path");
    }
    const bool slash_free = alternative.components.size() == 1 && !alternative.directories_only;
    const bool may_name_directory =
        alternative.directories_only || alternative.LiteralNames() == alternative.components.size();
    if (slash_free) {
      if (!alternative.components.front().is_any_depth) {
        alternative.components.insert(alternative.components.begin(), any_depth);
      }
    } else if (may_name_directory) {
      GlobAlternative below = alternative;
      below.components.push_back(any_depth);
      below.directories_only = false;
      patterns.push_back(std::move(below));
    }
    if (!alternative.directories_only) patterns.push_back(std::move(alternative));
  }
  for (const GlobAlternative& pattern : patterns) {
    std::string pathspec = Pathspec(pattern);
    if (std::find(pathspecs_.begin(), pathspecs_.end(), pathspec) == pathspecs_.end()) {
      pathspecs_.push_back(std::move(pathspec));
    }
  }
  name_filters_ = NameFilters(patterns);
  matcher_.emplace(std::move(patterns), true);
}

bool IncludeFilter::Matches(std::string_view path) const {
  return matcher_->Match(path, false) != GlobMatch::kNone;
}

}  // namespace find
