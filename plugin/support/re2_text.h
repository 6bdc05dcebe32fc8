// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <re2/stringpiece.h>

#include <string_view>

namespace support {

/// Text for RE2, whose string views are a class of their own in Debian 12 and 13.
inline re2::StringPiece Re2Text(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace support
