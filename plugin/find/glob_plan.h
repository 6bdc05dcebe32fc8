#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "find/find_listing.h"
#include "find/glob_matcher.h"

namespace find {

/// Directories that one pattern is looked for in. If its alternatives begin in more, fewer and
/// higher ones are listed.
inline constexpr std::size_t kMaximumGlobWalks = 16;

/// One directory to list, and what to take from the listing.
struct GlobWalk {
  /// Absolute if the pattern is, else below the given path. Empty: the given path itself. Not
  /// resolved; without ".." and wildcards.
  std::string directory;

  ListingRequest listing;  ///< but for its directory
  GlobMatcher matcher;     ///< for names relative to `directory`
};

/// The listings that answer a pattern. The names before an alternative's first wildcard narrow the
/// directory. If case is ignored, only those of an absolute pattern do; they are always taken as
/// written. Throws as ParseGlob does.
std::vector<GlobWalk> PlanGlob(std::string_view pattern, bool case_sensitive);

/// Which files a search looks into: a glob pattern (see glob_pattern.h) for paths relative to the
/// searched directory. A pattern without '/' is for the file's name at any depth. One without
/// wildcards may also name a directory, and one that ends with '/' does.
class IncludeFilter {
 public:
  /// Throws support::CallError for a bad pattern, and for an absolute one.
  explicit IncludeFilter(std::string_view include);

  /// For git, after "--": they let through at least what Matches does. Each begins with ":(glob)",
  /// so that nothing in it can be other magic. Braces are expanded; git knows none.
  [[nodiscard]] const std::vector<std::string>& pathspecs() const { return pathspecs_; }

  /// For find: likewise. As NameFilters.
  [[nodiscard]] const std::vector<std::string>& name_filters() const { return name_filters_; }

  /// `path` is valid UTF-8 as GlobMatcher::Match wants it.
  [[nodiscard]] bool Matches(std::string_view path) const;

 private:
  std::vector<std::string> pathspecs_;
  std::vector<std::string> name_filters_;
  std::optional<GlobMatcher> matcher_;
};

}  // namespace find
