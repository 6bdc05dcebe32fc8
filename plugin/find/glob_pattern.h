#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Reads glob patterns.
///
/// A pattern is names divided by '/'. In a name:
///   `*`        any characters, none included          `?`   one character
///   `[a-z_]`   one of these characters; `[!…]` or `[^…]` none of them; `[[:digit:]]` POSIX classes
///   `\x`       x itself, whatever it means otherwise
/// `{a,b}` is either, may hold '/' and further braces, and is expanded before anything else, except
/// within `[…]`. Braces without a comma are ordinary characters, as in a shell.
/// A name that is exactly `**` is any number of directories, none included; at the end of a pattern
/// it is everything below. Names that begin with a dot are names like others. `.` and doubled '/'
/// mean nothing; a '/' at the end says "directories only"; `..` is refused.
/// Matching is by characters of UTF-8. Nothing matches '/'.
/// Source: glob(7), POSIX.1-2017 XCU 2.13, bash's globstar and brace expansion.
namespace find {

/// Bytes of a pattern.
inline constexpr std::size_t kMaximumGlobPattern = 4096;
/// Alternatives that a pattern's braces may expand to.
inline constexpr std::size_t kMaximumGlobAlternatives = 1000;
/// Parts (characters, wildcards) of all alternatives together.
inline constexpr std::size_t kMaximumExpandedGlobParts = std::size_t{64} * 1024;
/// Braces within braces.
inline constexpr std::size_t kMaximumGlobBraceDepth = 32;

/// One name of a pattern, between two '/'.
struct GlobComponent {
  std::string written;      ///< as in the pattern, escapes included
  std::string regex;        ///< RE2 syntax, for names of valid UTF-8; empty for `**`
  std::string literal;      ///< the name itself when there is no wildcard in it
  std::string name_filter;  ///< an fnmatch(3) pattern that matches at least what this one matches
  bool is_literal = false;
  bool is_any_depth = false;  ///< `**`
};

/// A pattern without braces.
struct GlobAlternative {
  std::vector<GlobComponent> components;  ///< never empty
  bool absolute = false;                  ///< begins with '/'
  bool directories_only = false;          ///< ends with '/'
};

/// The alternatives of a pattern, in the order of its braces. Throws support::CallError that names
/// the pattern's fault and its position (characters, the first is 1).
std::vector<GlobAlternative> ParseGlob(std::string_view pattern);

}  // namespace find
