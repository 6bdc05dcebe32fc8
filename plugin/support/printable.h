#pragma once

#include <string>
#include <string_view>

namespace support {

/// `text` with every control character (C0, C1, DEL), every one that turns the direction of writing
/// (U+202A to U+202E, U+2066 to U+2069) and every byte that is not UTF-8 as \xHH, so that what
/// others printed can neither drive the terminal that shows it, nor break a line in two, nor look
/// like something else.
std::string Printable(std::string_view text);

}  // namespace support
