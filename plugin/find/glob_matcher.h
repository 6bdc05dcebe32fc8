#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "find/glob_pattern.h"

namespace re2 {
class RE2;
}

namespace find {

enum class GlobMatch {
  kNone,
  kFound,  ///< by a `**`: to be left out where git ignores it
  kNamed,  ///< by names and wildcards of single names
};

/// Matches names against alternatives of one pattern, with RE2: in time linear to the name,
/// whatever the pattern. Immutable once made; thread-safe.
///
/// What a pattern with `**` finds does not include anything named `.git`, nor what is in it, unless
/// the pattern has a component that is `.git` itself.
class GlobMatcher {
 public:
  /// Throws support::CallError when the pattern is too large for RE2.
  GlobMatcher(const std::vector<GlobAlternative>& alternatives, bool case_sensitive);
  ~GlobMatcher();
  GlobMatcher(GlobMatcher&&) noexcept;

  /// `path` is relative to where the alternatives begin, without "." and doubled '/', and valid
  /// UTF-8: bytes that are not have been replaced by U+FFFD, one each. Where git ignores its first
  /// `ignored_names` names, and the pattern begins with directories inside what they lead to, it is
  /// kNamed.
  [[nodiscard]] GlobMatch Match(std::string_view path, bool is_directory,
                                std::size_t ignored_names = 0) const;

 private:
  struct Rule;
  std::vector<Rule> rules_;
};

/// Whether one of the components is `.git` itself.
bool NamesGitDirectory(const GlobAlternative& alternative, bool case_sensitive);

/// Whether one of the components is `**`.
bool HasAnyDepth(const GlobAlternative& alternative);

}  // namespace find
