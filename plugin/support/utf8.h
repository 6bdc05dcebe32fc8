// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Converts foreign bytes to text: JSON allows only valid UTF-8.
namespace support {

/// U+FFFD, which replaces each byte that is not UTF-8.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

/// The length of the longest prefix that is well-formed UTF-8 (RFC 3629).
std::size_t ValidUtf8Prefix(std::string_view bytes);

bool IsValidUtf8(std::string_view bytes);

/// The length of the well-formed character at the beginning of `bytes`; 0 if there is none. `bytes`
/// must not be empty.
std::size_t FirstCharacterLength(std::string_view bytes);

/// Takes the first character from `text`, or a byte that begins none. `text` must not be empty.
std::string_view TakeCharacter(std::string_view& text);

// Text that was cut at any byte, cut between two characters. Other bytes stay as they are.

/// Without an incomplete character at the end.
std::string_view WithoutCutEnd(std::string_view bytes);

/// At most `maximum` bytes. Text that is longer loses an incomplete character at the end too.
std::string_view CutText(std::string_view text, std::size_t maximum);

/// Without the rest of a character at the beginning.
std::string_view WithoutCutBeginning(std::string_view bytes);

struct DecodedText {
  std::string text;          ///< valid UTF-8
  std::size_t replaced = 0;  ///< number of bytes replaced, each by one U+FFFD
};

DecodedText DecodeUtf8(std::string_view bytes);

/// DecodeUtf8 without the count.
std::string ToUtf8(std::string_view bytes);

}  // namespace support
