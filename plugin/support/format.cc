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

std::string Replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  for (std::size_t at = 0; (at = result.find(from, at)) != std::string::npos; at += to.size()) {
    result.replace(at, from.size(), to);
  }
  return result;
}

}  // namespace support
