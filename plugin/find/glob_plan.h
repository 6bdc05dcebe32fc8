#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "find/glob_matcher.h"

namespace find {

/// Directories that one pattern is looked for in. If its alternatives begin in more, fewer and
/// higher ones are listed.
inline constexpr std::size_t kMaximumGlobWalks = 16;

/// One directory to list, and what to take from the listing.
struct GlobWalk {
  /// Below the given path or, if `absolute`, below "/". Empty: the given path itself. Not resolved;
  /// without ".." and wildcards.
  std::string directory;
  bool absolute = false;

  std::optional<std::size_t> maximum_depth;  ///< empty: everything below
  bool enters_git = false;                   ///< lists `.git` directories too
  std::vector<std::string> name_filters;     ///< as NameFilters

  GlobMatcher matcher;  ///< for names relative to `directory`
};

/// The listings that answer a pattern. The names before an alternative's first wildcard narrow the
/// directory. If case is ignored, only those of an absolute pattern do; they are always taken as
/// written. Throws as ParseGlob does.
std::vector<GlobWalk> PlanGlob(std::string_view pattern, bool case_sensitive);

}  // namespace find
