#pragma once

#include <string_view>

namespace support {

/// The version of this program, as CMakeLists.txt states it ("0.1.0").
std::string_view Version();

}  // namespace support
