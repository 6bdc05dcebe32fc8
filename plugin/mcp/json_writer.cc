#include "mcp/json_writer.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mcp/json_reader.h"
#include "support/utf8.h"

namespace mcp {
namespace {

using nlohmann::json;

unsigned char Byte(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

bool NeedsEscape(unsigned char byte) {
  return byte < 0x20 || byte == '"' || byte == '\\';
}

void AppendEscape(std::string& out, unsigned char byte) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (byte) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[byte >> 4U];
      out += kHex[byte & 0xFU];
  }
}

/// Whether one of eight bytes may need an escape; true also for a few that do not. The usual test
/// for a byte below n or equal to n in a word, which may err only towards "yes".
bool MayNeedEscape(std::uint64_t word) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  const std::uint64_t quotes = word ^ (kOnes * '"');
  const std::uint64_t backslashes = word ^ (kOnes * '\\');
  const std::uint64_t below_space = (word - kOnes * 0x20U) & ~word;
  const std::uint64_t is_quote = (quotes - kOnes) & ~quotes;
  const std::uint64_t is_backslash = (backslashes - kOnes) & ~backslashes;
  return ((below_space | is_quote | is_backslash) & kHighBits) != 0;
}

/// The first byte from `at` on that needs an escape; the end when none does. Eight at a time,
/// because results are text of many megabytes.
std::size_t FindEscape(std::string_view text, std::size_t at) {
  std::uint64_t word = 0;
  for (; at + sizeof(word) <= text.size(); at += sizeof(word)) {
    std::memcpy(&word, text.data() + at, sizeof(word));
    if (!MayNeedEscape(word)) continue;
    for (std::size_t i = at; i < at + sizeof(word); ++i) {
      if (NeedsEscape(Byte(text, i))) return i;
    }
  }
  while (at < text.size() && !NeedsEscape(Byte(text, at))) ++at;
  return at;
}

/// `text` is valid UTF-8.
void AppendEscaped(std::string& out, std::string_view text) {
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = FindEscape(text, begin);
    out += text.substr(begin, end - begin);
    if (end == text.size()) return;
    AppendEscape(out, Byte(text, end));
    begin = end + 1;
  }
}

void AppendObject(std::string& out, const json& object) {
  ObjectWriter writer(out);
  for (const auto& [key, value] : object.items()) writer.Member(key, value);
  writer.End();
}

void AppendArray(std::string& out, const json& array) {
  out += '[';
  bool first = true;
  for (const json& value : array) {
    if (!first) out += ',';
    first = false;
    AppendJson(out, value);
  }
  out += ']';
}

}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  // A guess for text, which spares large ones being copied as the string grows.
  constexpr std::size_t kLarge = std::size_t{1024} * 1024;
  if (text.size() >= kLarge) out.reserve(out.size() + text.size() + text.size() / 8);
  out += '"';
  while (!text.empty()) {
    const std::size_t valid = support::ValidUtf8Prefix(text);
    AppendEscaped(out, text.substr(0, valid));
    text.remove_prefix(valid);
    if (text.empty()) break;
    out += support::kReplacementCharacter;
    text.remove_prefix(1);
  }
  out += '"';
}

void AppendJson(std::string& out, const json& value) {
  switch (value.type()) {
    case json::value_t::object:
      AppendObject(out, value);
      return;
    case json::value_t::array:
      AppendArray(out, value);
      return;
    case json::value_t::string:
      AppendJsonString(out, value.get_ref<const std::string&>());
      return;
    case json::value_t::binary:
      out += WholeNumberText(value);
      return;
    default:
      out += value.dump();
  }
}

std::string ToJson(const json& value) {
  std::string out;
  AppendJson(out, value);
  return out;
}

void ObjectWriter::Key(std::string_view key) {
  if (!first_) out_ += ',';
  first_ = false;
  AppendJsonString(out_, key);
  out_ += ':';
}

void ObjectWriter::Member(std::string_view key, const json& value) {
  Key(key);
  AppendJson(out_, value);
}

void ObjectWriter::Member(std::string_view key, std::string_view text) {
  Key(key);
  AppendJsonString(out_, text);
}

void ObjectWriter::RawMember(std::string_view key, std::string_view json) {
  Key(key);
  out_ += json;
}

std::string NotificationText(std::string_view method, std::string_view params) {
  std::string text;
  ObjectWriter notification(text);
  notification.Member("jsonrpc", std::string_view("2.0"));
  notification.Member("method", method);
  notification.RawMember("params", params);
  notification.End();
  return text;
}

}  // namespace mcp
