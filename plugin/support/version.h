// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace support {

/// The version of this program, as CMakeLists.txt states it ("1.0.0").
std::string_view Version();

/// MAJOR.MINOR.PATCH of any program.
using Release = std::array<int, 3>;

/// The first one in a text; empty if there is none.
std::optional<Release> ParseRelease(std::string_view text);

std::string ToString(const Release& release);

}  // namespace support
