#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Parses glob patterns.
///
/// A pattern has names separated by '/'. In a name:
///   `*`        any number of characters; `?` one character
///   `[a-z_]`   one of these characters; `[!…]` or `[^…]` any other
///   `\x`       x itself
/// `{a,b}` matches `a` or `b`. Braces may contain '/' and nested braces; they are expanded first,
/// except within `[…]`. Braces without a comma are ordinary characters, as in a shell.
/// A name `**` matches any number of directories; at the end of a pattern, everything below.
/// A leading dot is an ordinary character. `.` and doubled '/' are ignored. A trailing '/' matches
/// directories only. `..` is an error. Wildcards match characters of UTF-8, never '/'.
/// Source: glob(7), POSIX.1-2017 XCU 2.13, bash's globstar and brace expansion.
namespace find {

/// Most bytes of a pattern.
inline constexpr std::size_t kMaximumGlobPattern = 4096;
/// Most alternatives that the braces of a pattern may expand to.
inline constexpr std::size_t kMaximumGlobAlternatives = 1000;
/// Most parts (characters, wildcards) of all alternatives together.
inline constexpr std::size_t kMaximumExpandedGlobParts = std::size_t{64} * 1024;
/// Most levels of nested braces.
inline constexpr std::size_t kMaximumGlobBraceDepth = 32;

/// `[…]`
struct CharacterClass {
  bool negated = false;
  std::vector<std::pair<char32_t, char32_t>> ranges;  ///< first and last character
};

struct GlobPart {
  enum class Kind { kCharacter, kAnyCharacter, kAnyCharacters, kClass, kSeparator };

  Kind kind = Kind::kCharacter;
  std::string text = {};                                  ///< kCharacter: in UTF-8
  char32_t character = 0;                                 ///< kCharacter
  std::shared_ptr<const CharacterClass> characters = {};  ///< kClass
};

/// One name of a pattern.
struct GlobComponent {
  std::vector<GlobPart> parts;
  std::string literal;        ///< the name itself; empty if it has wildcards
  std::string name_filter;    ///< an fnmatch(3) pattern that matches at least as much
  bool is_any_depth = false;  ///< `**`
};

/// A pattern without braces.
struct GlobAlternative {
  std::vector<GlobComponent> components;  ///< never empty
  bool absolute = false;                  ///< begins with '/'
  bool directories_only = false;          ///< ends with '/'

  /// Whether one of the names is `**`.
  [[nodiscard]] bool HasAnyDepth() const;

  /// How many names precede the first one with a wildcard.
  [[nodiscard]] std::size_t LiteralNames() const;
};

/// The alternatives of a pattern, in the order of its braces. Throws like ThrowGlobError.
std::vector<GlobAlternative> ParseGlob(std::string_view pattern);

/// The name filters of the alternatives' last names. Empty if any name can match, or if there are
/// too many filters to be useful.
std::vector<std::string> NameFilters(const std::vector<GlobAlternative>& alternatives);

/// Returns the character that begins at `at`, and moves `at` past it. Never reads past the end.
char32_t TakeCharacter(std::string_view utf8, std::size_t& at);

/// Throws support::CallError: `Bad pattern "…": problem.`
[[noreturn]] void ThrowGlobError(std::string_view pattern, const std::string& problem);

}  // namespace find
