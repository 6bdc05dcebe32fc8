#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The strings of JSON text, where they are long. nlohmann's lexer reads them byte by byte through
/// two buffers, about 80 MB/s; file contents are written with this instead.
namespace mcp {

/// What stands between the quotes of a JSON string (RFC 8259, section 7) to the text that it means.
/// Nothing when it is no such thing: a quote or a control character in it, an escape that there is
/// not, an unpaired surrogate, bytes that are not UTF-8.
std::optional<std::string> Unescape(std::string_view escaped);

struct MendedText {
  std::string text;
  std::size_t first = 0;  ///< where the first half of a pair stands
};

/// `json` with the escape of U+FFFD, which is as long, in the place of each escape that is half of
/// a surrogate pair. Nothing when it has no such escape.
std::optional<MendedText> MendHalfPairs(std::string_view json);

/// Strings from this many bytes on, as they are written, are long.
inline constexpr std::size_t kLongString = 4096;

struct LongString {
  std::size_t begin = 0;  ///< in the JSON text, behind the opening quote
  std::size_t end = 0;    ///< of the closing quote
  std::string text;       ///< what it means
};

/// The long strings of `json`, in order. Where that is not JSON, what was found before the first
/// mistake is right, and what comes behind it means nothing. Left out are strings that Unescape
/// does not take.
std::vector<LongString> FindLongStrings(std::string_view json);

}  // namespace mcp
