#pragma once

#include <string>
#include <string_view>

namespace support {

/// RFC 4648, section 4: with padding, without line breaks.
std::string EncodeBase64(std::string_view bytes);

}  // namespace support
