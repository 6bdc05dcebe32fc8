#pragma once

#include <string>
#include <string_view>

namespace support {

/// `text` on one line, harmless to a terminal: control characters (C0, C1, DEL), those that change
/// the direction of writing (U+202A to U+202E, U+2066 to U+2069) and bytes that are not UTF-8
/// become \xHH.
std::string Printable(std::string_view text);

}  // namespace support
