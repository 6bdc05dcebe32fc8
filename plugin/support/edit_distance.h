// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace support {

/// How many bytes must be inserted, removed, replaced, or swapped with the next one, to make one
/// word of the other.
std::size_t EditDistance(std::string_view a, std::string_view b);

/// " Did you mean KNOWN?" for the nearest known word, also for a long beginning of one, in any
/// case; empty if none is near.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& known);

}  // namespace support
