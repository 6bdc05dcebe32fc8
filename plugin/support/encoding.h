#pragma once

#include <string>
#include <string_view>

/// Bytes as text.
namespace support {

/// Hexadecimal: two digits for each byte, in lower case.
std::string EncodeHex(std::string_view bytes);

/// Base64: RFC 4648, section 4: with padding, without line breaks.
std::string EncodeBase64(std::string_view bytes);

}  // namespace support
