#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Bytes of others as text: JSON carries only valid UTF-8.
namespace support {

/// U+FFFD, which replaces each byte that is not UTF-8.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// The length of the longest prefix that is well-formed UTF-8 (RFC 3629).
std::size_t ValidUtf8Prefix(std::string_view bytes);

bool IsValidUtf8(std::string_view bytes);

/// The length of the well-formed character that `bytes` (not empty) begins with; 0 if there is
/// none.
std::size_t FirstCharacterLength(std::string_view bytes);

struct DecodedText {
  std::string text;          ///< valid UTF-8
  std::size_t replaced = 0;  ///< bytes that U+FFFD replaces, one for each
};

DecodedText DecodeUtf8(std::string_view bytes);

/// DecodeUtf8 without the count.
std::string ToUtf8(std::string_view bytes);

/// RFC 4648, section 4: with padding, without line breaks.
std::string EncodeBase64(std::string_view bytes);

}  // namespace support
