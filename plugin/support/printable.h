#pragma once

#include <string>
#include <string_view>

namespace support {

/// `text` with every control character as \xHH, so that what others printed can neither drive the
/// terminal that shows it nor break a line in two.
std::string Printable(std::string_view text);

}  // namespace support
