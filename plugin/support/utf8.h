#pragma once

#include <string_view>

namespace support {

/// Whether `bytes` are well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing
/// above U+10FFFF, no cut sequence.
bool IsValidUtf8(std::string_view bytes);

}  // namespace support
