#include "mcp/json_writer.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "support/utf8.h"

namespace mcp {
namespace {

using nlohmann::json;

/// What each byte becomes; empty if it stays as it is.
std::array<std::string, 256> MakeEscapes() {
  std::array<std::string, 256> escapes;
  for (std::size_t byte = 0; byte < 0x80; ++byte) {  // the others are parts of characters
    const std::string text(1, static_cast<char>(byte));
    const std::string quoted = json(text).dump();
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

std::string ToJson(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string& ObjectWriter::Key(std::string_view key) {
  if (!first_) out_ += ',';
  first_ = false;
  AppendJsonString(out_, key);
  out_ += ':';
  return out_;
}

void ObjectWriter::Member(std::string_view key, std::string_view text) {
  AppendJsonString(Key(key), text);
}

void ObjectWriter::JsonMember(std::string_view key, const json& value) {
  Key(key) += ToJson(value);
}

void ObjectWriter::RawMember(std::string_view key, std::string_view json) {
  Key(key) += json;
}

std::string NotificationText(std::string_view method, std::string_view params) {
  return ObjectText([&](ObjectWriter& notification) {
    notification.Member("jsonrpc", "2.0");
    notification.Member("method", method);
    notification.RawMember("params", params);
  });
}

}  // namespace mcp
