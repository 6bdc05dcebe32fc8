#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Bytes of the guest as text: MCP's JSON carries nothing but valid UTF-8.
namespace tools {

/// U+FFFD, what stands in place of a byte that is not UTF-8.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// How many bytes of `text` from its beginning are valid UTF-8 (RFC 3629: shortest forms only, no
/// surrogates, nothing above U+10FFFF). Equal to its size when all are.
std::size_t ValidUtf8Prefix(std::string_view text);

struct Utf8Text {
  std::string text;
  std::size_t replaced = 0;  ///< bytes in place of which there is now U+FFFD, one for each
};

Utf8Text DecodeUtf8(std::string_view bytes);

/// DecodeUtf8 for those who need no count.
std::string ToUtf8(std::string_view bytes);

}  // namespace tools
