#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "find/glob_pattern.h"

namespace find {

enum class GlobMatch {
  kNone,
  kFound,  ///< matched by a `**`: dropped if git ignores it
  kNamed,  ///< matched without a `**`
};

/// Matches paths against the alternatives of one pattern. Takes at most time proportional to the
/// product of both lengths. Immutable; thread-safe.
///
/// A pattern with `**` does not match `.git` or anything in it, unless one of its components is
/// `.git`.
class GlobMatcher {
 public:
  /// Ignores case by Unicode's simple mappings; only for ASCII if the C library has no UTF-8
  /// locale.
  GlobMatcher(std::vector<GlobAlternative> alternatives, bool case_sensitive);

  /// `path` is relative to the directory where the alternatives begin, without "." and repeated
  /// '/'. It is valid UTF-8, with U+FFFD for each invalid byte. `ignored_names`: see ListedName. If
  /// the pattern has these names without wildcards, the match is kNamed.
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
