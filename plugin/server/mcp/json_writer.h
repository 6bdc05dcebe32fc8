// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

/// JSON values to text without a raw newline, with U+FFFD in place of bytes that are not UTF-8.
namespace mcp {

/// What this server sends: members stay in the order in which they were added.
using Json = nlohmann::ordered_json;

[[nodiscard]] inline std::string ToJson(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Appends `text` as a JSON string, quotes included. Several times faster than dump() for large
/// texts.
void AppendJsonString(std::string& out, std::string_view text);

}  // namespace mcp
