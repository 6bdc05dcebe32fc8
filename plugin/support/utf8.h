#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Bytes of others as text: JSON carries nothing but valid UTF-8.
namespace support {

/// U+FFFD, what stands in place of a byte that is not UTF-8.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// How many bytes, from the beginning, are well-formed UTF-8 (RFC 3629): no overlong forms, no
/// surrogates, nothing above U+10FFFF, no cut sequence.
std::size_t ValidUtf8Prefix(std::string_view bytes);

/// Whether all of `bytes` are.
bool IsValidUtf8(std::string_view bytes);

struct DecodedText {
  std::string text;          ///< valid UTF-8
  std::size_t replaced = 0;  ///< bytes in whose place U+FFFD stands now, one for each
};

DecodedText DecodeUtf8(std::string_view bytes);

/// DecodeUtf8 for those who need no count.
std::string ToUtf8(std::string_view bytes);

}  // namespace support
