// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "find/find_listing.h"

/// Glob patterns.
///
/// A pattern has names separated by '/'. In a name:
///   `*`        any number of characters; `?` one character
///   `[a-z_]`   one of these characters, `[!…]` or `[^…]` any other; also the same text, brackets
///              included
///   `\x`       x itself
/// `{a,b}` matches `a` or `b`. Braces may contain '/' and nested braces; they are expanded first,
/// except within `[…]`. Braces without a comma are ordinary characters, as in a shell.
/// A name `**` matches any number of directories; at the end of a pattern, everything below.
/// A leading dot is an ordinary character. `.` and doubled '/' are ignored. A trailing '/' matches
/// directories only. `..` is an error. Wildcards match characters of UTF-8, never '/'.
/// Source: glob(7), POSIX.1-2017 XCU 2.13, bash's globstar and brace expansion.
namespace find {

/// Most bytes of a pattern.
inline constexpr std::size_t kMaxGlobPattern = 4096;
/// Most alternatives that the braces of a pattern may expand to.
inline constexpr std::size_t kMaxGlobAlternatives = 1000;
/// Most levels of nested braces.
inline constexpr std::size_t kMaxGlobBraceDepth = 32;

/// One name of a pattern.
struct GlobName {
  std::string expression;  ///< for RE2; not used for `**`
  std::string literal;     ///< the name itself; empty if it has wildcards
  std::string filter;      ///< an fnmatch(3) pattern that matches at least as much, or `**`

  [[nodiscard]] bool is_any_depth() const { return filter == "**"; }
};

/// A pattern without braces.
struct GlobAlternative {
  std::vector<GlobName> names;    ///< never empty
  bool absolute = false;          ///< begins with '/'
  bool directories_only = false;  ///< ends with '/'

  /// Whether one of the names is `**`, or `.git`.
  [[nodiscard]] bool HasAnyDepth() const;
  [[nodiscard]] bool NamesGit() const;

  /// How many names precede the first one with a wildcard.
  [[nodiscard]] std::size_t LiteralNames() const;
};

/// The alternatives of a pattern, in the order of its braces. Throws support::Error: `Bad
/// pattern "…": problem.`
std::vector<GlobAlternative> ParseGlob(std::string_view pattern);

/// What to say of a pattern that matches nothing, if it looks like syntax that is not supported or
/// often misunderstood; else empty.
std::string HintIfUnmatched(std::string_view pattern);

/// Matches paths against alternatives, with one support::RegexSet. Takes at most time proportional
/// to the product of both lengths. Immutable; thread-safe; copies share the set.
///
/// A pattern with `**` does not match `.git` or anything in it, unless one of its names is `.git`.
class GlobMatcher {
 public:
  /// Ignores case by Unicode's simple mappings. Throws support::Error if RE2 runs out of its
  /// memory.
  GlobMatcher(std::vector<GlobAlternative> alternatives, bool case_sensitive);

  /// `path` is relative to the directory where the alternatives begin, without "." and repeated
  /// '/'. It is valid UTF-8, with U+FFFD for each invalid byte. `ignored_names`: see ListedName. A
  /// pattern with `**` matches what git ignores only if it has these names without wildcards.
  [[nodiscard]] bool Matches(std::string_view path, bool is_directory,
                             std::size_t ignored_names = 0) const;

 private:
  struct Set;
  std::shared_ptr<const Set> set_;
};

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
struct IncludeFilter {
  /// Throws support::Error for a bad pattern, and for an absolute one.
  explicit IncludeFilter(std::string_view include);

  /// `path` must be valid UTF-8, as for GlobMatcher::Matches.
  [[nodiscard]] bool Matches(std::string_view path) const { return matcher->Matches(path, false); }

  /// Arguments for git, after "--". They match everything that Matches does, maybe more. Each
  /// begins with ":(glob)", so git reads no other magic in it. Braces are expanded, because git has
  /// none.
  std::vector<std::string> pathspecs;
  std::optional<GlobMatcher> matcher;
};

}  // namespace find
