// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace support {

/// How many bytes must be inserted, removed, replaced, or swapped with the next one, to make one
/// word of the other.
std::size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace support
