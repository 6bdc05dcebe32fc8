// SPDX-License-Identifier: Apache-2.0
#include "support/format.h"

namespace support {

std::string Filled(std::string_view text, std::initializer_list<std::string> values) {
  std::string filled;
  for (const std::string& value : values) {
    const std::size_t end = text.find("{}");
    filled += text.substr(0, end);
    filled += value;
    text.remove_prefix(end + 2);
  }
  return filled += text;
}

}  // namespace support
