// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace support {

/// Returns `text` on one line, safe for a terminal. Control characters (C0, C1, DEL), line and
/// paragraph separators, bidirectional controls (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066
/// to U+206F) and invalid UTF-8 bytes become \xHH, but for the characters of `kept`.
std::string Printable(std::string_view text, std::string_view kept = "");

}  // namespace support
