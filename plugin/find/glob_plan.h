#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "find/find_listing.h"
#include "find/glob.h"

namespace find {

/// Most directories that are listed for one pattern. If its alternatives begin in more, their
/// parents are listed instead.
inline constexpr std::size_t kMaxGlobWalks = 16;

/// One directory to list, and the matcher for its names.
struct GlobWalk {
  /// Absolute if the pattern is, else relative to the given path; empty for that path itself. Not
  /// resolved; without ".." and wildcards.
  std::string directory;

  ListingRequest listing;  ///< its directory is not set
  GlobMatcher matcher;     ///< for names relative to `directory`
};

/// Plans the listings for a pattern. The names before an alternative's first wildcard become
/// part of the directory. If case is ignored, only those of an absolute pattern do, and must match
/// in case. Throws like ParseGlob.
std::vector<GlobWalk> PlanGlob(std::string_view pattern, bool case_sensitive);

/// Selects the files of a search by a glob pattern (see glob.h) for paths relative to the
/// searched directory. A pattern without '/' matches file names at any depth. A pattern that ends
/// with '/' matches a directory's files; a path without wildcards may match either.
class IncludeFilter {
 public:
  /// Throws support::CallError for a bad pattern, and for an absolute one.
  explicit IncludeFilter(std::string_view include);

  /// Arguments for git, after "--". They match everything that Matches does, maybe more. Each
  /// begins with ":(glob)", so git reads no other magic in it. Braces are expanded, because git has
  /// none.
  [[nodiscard]] const std::vector<std::string>& pathspecs() const { return pathspecs_; }

  /// The same for find: fnmatch(3) patterns for the last names. Empty if it needs none.
  [[nodiscard]] const std::vector<std::string>& name_filters() const { return name_filters_; }

  /// `path` must be valid UTF-8, as for GlobMatcher::Matches.
  [[nodiscard]] bool Matches(std::string_view path) const;

 private:
  std::vector<std::string> pathspecs_;
  std::vector<std::string> name_filters_;
  std::optional<GlobMatcher> matcher_;
};

}  // namespace find
