// SPDX-License-Identifier: Apache-2.0
#include "mcp/json_writer.h"

#include <algorithm>
#include <array>

#include "support/utf8.h"

namespace mcp {
namespace {

/// What each byte becomes; empty if it stays as it is.
std::array<std::string, 256> MakeEscapes() {
  std::array<std::string, 256> escapes;
  for (std::size_t byte = 0; byte < 0x80; ++byte) {  // the others are parts of characters
    const std::string text(1, static_cast<char>(byte));
    const std::string quoted = Json(text).dump();
    const std::string escaped = quoted.substr(1, quoted.size() - 2);
    if (escaped != text) escapes.at(byte) = escaped;
  }
  return escapes;
}

}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  static const std::array<std::string, 256> escapes = MakeEscapes();
  if (!support::IsValidUtf8(text)) return AppendJsonString(out, support::ToUtf8(text));
  constexpr std::size_t kLargeText = 4096;
  if (text.size() > kLargeText) out.reserve(out.size() + text.size() + text.size() / 4);
  const auto needs_escape = [](char c) { return !escapes[static_cast<unsigned char>(c)].empty(); };
  out += '"';
  const char* const end = text.data() + text.size();
  for (const char* at = text.data();; ++at) {
    const char* const special = std::find_if(at, end, needs_escape);
    out.append(at, special);
    if (special == end) break;
    out += escapes[static_cast<unsigned char>(*special)];
    at = special;
  }
  out += '"';
}

}  // namespace mcp
