#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "find/glob_matcher.h"

namespace find {

/// Directories that one pattern is looked for in; when its alternatives begin in more, fewer and
/// higher ones are taken.
inline constexpr std::size_t kMaximumGlobWalks = 16;

/// One directory to list, and what to take from the listing.
struct GlobWalk {
  /// Where to list: names below the given path, or, when `absolute`, below "/". Not resolved yet,
  /// and without ".." or wildcards. Empty means the given path itself.
  std::string directory;
  bool absolute = false;

  std::optional<std::size_t> maximum_depth;  ///< nothing: as deep as it goes
  bool enters_git = false;                   ///< `.git` directories are part of the listing

  /// fnmatch(3) patterns for the last name of whatever can match; empty means any name can.
  std::vector<std::string> name_filters;

  GlobMatcher matcher;  ///< for names relative to `directory`
};

/// The listings that answer a pattern. The names that an alternative begins with, before its first
/// wildcard, narrow the directory; where case does not matter they cannot, but in an absolute
/// pattern, whose directory part is always taken as it is written.
/// Throws support::CallError as ParseGlob does.
std::vector<GlobWalk> PlanGlob(std::string_view pattern, bool case_sensitive);

}  // namespace find
