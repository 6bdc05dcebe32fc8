#include "find/glob_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace find {
namespace {

/// More filters slow find down.
constexpr std::size_t kMaxNameFilters = 32;

void AddIfNew(std::vector<std::string>& texts, const std::string& text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

/// The filters of the last names. Empty if any name can match, or there are too many filters.
std::vector<std::string> NameFilters(const std::vector<GlobAlternative>& alternatives) {
  std::vector<std::string> filters;
  for (const GlobAlternative& alternative : alternatives) {
    AddIfNew(filters, alternative.names.back().filter);
    const bool is_any = filters.back().find_first_not_of('*') == std::string::npos;
    if (is_any || filters.size() > kMaxNameFilters) return {};
  }
  return filters;
}

/// How many names of an alternative become part of the directory: those before its first wildcard,
/// at most `most`, but never the last name.
std::size_t PrefixLength(const GlobAlternative& alternative, bool case_sensitive,
                         std::size_t most) {
  if (!case_sensitive && !alternative.absolute) return 0;
  return std::min({most, alternative.LiteralNames(), alternative.names.size() - 1});
}

/// GlobWalk::directory of an alternative.
std::string Directory(const GlobAlternative& alternative, std::size_t prefix_length) {
  std::string directory = alternative.absolute ? "/" : "";
  for (std::size_t i = 0; i < prefix_length; ++i) {
    directory += (i > 0 ? "/" : "") + alternative.names[i].literal;
  }
  return directory;
}

std::string Pathspec(const GlobAlternative& alternative) {
  std::string pathspec = ":(glob)";
  for (const GlobName& name : alternative.names) {
    pathspec += (&name == &alternative.names.front() ? "" : "/") + name.filter;
  }
  return pathspec;
}

}  // namespace

std::vector<GlobWalk> PlanGlob(std::string_view pattern, bool case_sensitive) {
  std::vector<GlobAlternative> alternatives = ParseGlob(pattern);
  // Searches for the longest prefixes that make few enough directories.
  std::size_t most = 0;
  for (std::size_t too_many = kMaxGlobPattern; most + 1 < too_many;) {
    const std::size_t middle = (most + too_many) / 2;
    std::set<std::string> directories;
    for (const GlobAlternative& alternative : alternatives) {
      directories.insert(Directory(alternative, PrefixLength(alternative, case_sensitive, middle)));
    }
    (directories.size() <= kMaxGlobWalks ? most : too_many) = middle;
  }
  std::map<std::string, std::vector<GlobAlternative>> groups;
  for (GlobAlternative& alternative : alternatives) {
    const std::size_t length = PrefixLength(alternative, case_sensitive, most);
    std::vector<GlobAlternative>& group = groups[Directory(alternative, length)];
    alternative.names.erase(alternative.names.begin(),
                            alternative.names.begin() + static_cast<std::ptrdiff_t>(length));
    group.push_back(std::move(alternative));
  }
  std::vector<GlobWalk> walks;
  for (const auto& [directory, members] : groups) {
    ListingRequest listing;
    std::size_t depth = 0;
    for (const GlobAlternative& member : members) {
      listing.wants_ignored |= member.HasAnyDepth();
      listing.enters_git |= !member.HasAnyDepth() || member.NamesGit();
      depth = std::max(depth, member.names.size());
    }
    if (!listing.wants_ignored) listing.maximum_depth = depth;
    if (case_sensitive) listing.name_filters = NameFilters(members);
    walks.push_back({directory, std::move(listing), GlobMatcher(members, case_sensitive)});
  }
  return walks;
}

IncludeFilter::IncludeFilter(std::string_view include) {
  const GlobName any_depth = ParseGlob("**").front().names.front();
  std::vector<GlobAlternative> patterns;
  for (GlobAlternative& alternative : ParseGlob(include)) {
    if (alternative.absolute) {
      ThrowGlobError(include,
                     "include matches names below the searched directory and cannot begin with "
                     "'/': pass that directory as path");
    }
    const bool directories_only = std::exchange(alternative.directories_only, false);
    if (alternative.names.size() == 1 && !directories_only) {
      if (!alternative.HasAnyDepth()) {
        alternative.names.insert(alternative.names.begin(), any_depth);
      }
    } else if (directories_only || alternative.LiteralNames() == alternative.names.size()) {
      patterns.push_back(alternative);
      patterns.back().names.push_back(any_depth);
    }
    if (!directories_only) patterns.push_back(std::move(alternative));
  }
  for (const GlobAlternative& pattern : patterns) AddIfNew(pathspecs_, Pathspec(pattern));
  name_filters_ = NameFilters(patterns);
  matcher_.emplace(std::move(patterns), true);
}

bool IncludeFilter::Matches(std::string_view path) const {
  return matcher_->Matches(path, false);
}

}  // namespace find
