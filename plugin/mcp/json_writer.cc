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

/// `text` must be valid UTF-8.
void AppendEscaped(std::string& out, std::string_view text) {
  static const std::array<std::string, 256> escapes = MakeEscapes();
  constexpr std::size_t kLargeText = 4096;
  if (text.size() > kLargeText) out.reserve(out.size() + text.size() + text.size() / 4);
  const auto needs_escape = [](char c) { return !escapes[static_cast<unsigned char>(c)].empty(); };
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    const char* const special = std::find_if(at, end, needs_escape);
    out.append(at, special);
    if (special == end) return;
    out += escapes[static_cast<unsigned char>(*special)];
    at = special + 1;
  }
}

void Append(std::string& out, const Json& value) {
  if (value.is_string()) return AppendJsonString(out, value.get_ref<const std::string&>());
  if (!value.is_structured()) {
    out += value.dump();
    return;
  }
  const bool is_object = value.is_object();
  out += is_object ? '{' : '[';
  for (auto member = value.begin(); member != value.end(); ++member) {
    if (member != value.begin()) out += ',';
    if (is_object) {
      AppendJsonString(out, member.key());
      out += ':';
    }
    Append(out, *member);
  }
  out += is_object ? '}' : ']';
}

}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  if (support::IsValidUtf8(text)) {
    AppendEscaped(out, text);
  } else {
    AppendEscaped(out, support::ToUtf8(text));
  }
  out += '"';
}

std::string ToJson(const Json& value) {
  std::string text;
  Append(text, value);
  return text;
}

}  // namespace mcp
