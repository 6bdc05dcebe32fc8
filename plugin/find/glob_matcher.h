#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "find/glob_pattern.h"

namespace find {

enum class GlobMatch {
  kNone,
  kFound,  ///< by a `**`: to be left out if git ignores it
  kNamed,  ///< by names and wildcards of single names
};

/// Matches names against the alternatives of one pattern. The time is bounded by the product of the
/// lengths, whatever the pattern. Immutable; thread-safe.
///
/// A pattern with `**` finds nothing named `.git` and nothing in it, unless one of its names is
/// `.git`.
class GlobMatcher {
 public:
  /// Case is ignored as Unicode's simple mappings have it; only ASCII's if the C library has no
  /// UTF-8 locale.
  GlobMatcher(std::vector<GlobAlternative> alternatives, bool case_sensitive);

  /// `path` is relative to where the alternatives begin, without "." and doubled '/', and valid
  /// UTF-8: U+FFFD replaces each byte that is not. `ignored_names`: see
  /// ListedName. If the pattern names these without wildcards, the match is kNamed.
  [[nodiscard]] GlobMatch Match(std::string_view path, bool is_directory,
                                std::size_t ignored_names = 0) const;

 private:
  struct Rule {
    GlobAlternative pattern;
    bool any_depth;
    bool names_git;
    std::size_t literal_names;  ///< before its first wildcard
  };

  std::vector<Rule> rules_;
  bool case_sensitive_;
};

/// Whether one of the names is `.git` itself.
bool NamesGitDirectory(const GlobAlternative& alternative, bool case_sensitive);

}  // namespace find
