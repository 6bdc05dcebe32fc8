#include "mcp/json_writer.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "mcp/json_reader.h"

namespace mcp {
namespace {

using nlohmann::json;

constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";

unsigned char Byte(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

bool IsPlain(unsigned char byte) {
  return byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
}

/// The well-formed sequences of Unicode 15, table 3-7: the range of the second byte depends on the
/// first.
struct Sequence {
  std::size_t length = 0;  ///< 0: no sequence begins with this byte
  unsigned char second_low = 0x80;
  unsigned char second_high = 0xBF;
};

Sequence SequenceFor(unsigned char first) {
  if (first >= 0xC2 && first <= 0xDF) return {.length = 2};
  if (first == 0xE0) return {.length = 3, .second_low = 0xA0};
  if (first == 0xED) return {.length = 3, .second_high = 0x9F};
  if (first >= 0xE1 && first <= 0xEF) return {.length = 3};
  if (first == 0xF0) return {.length = 4, .second_low = 0x90};
  if (first >= 0xF1 && first <= 0xF3) return {.length = 4};
  if (first == 0xF4) return {.length = 4, .second_high = 0x8F};
  return {};
}

/// Appends the sequence that begins at `i`, or one U+FFFD for the longest broken beginning of one;
/// returns how many bytes that were.
std::size_t AppendSequence(std::string& out, std::string_view text, std::size_t i) {
  const Sequence sequence = SequenceFor(Byte(text, i));
  std::size_t good = 1;
  while (good < sequence.length && i + good < text.size()) {
    const unsigned char next = Byte(text, i + good);
    const unsigned char low = good == 1 ? sequence.second_low : 0x80;
    const unsigned char high = good == 1 ? sequence.second_high : 0xBF;
    if (next < low || next > high) break;
    ++good;
  }
  if (good == sequence.length) {
    out += text.substr(i, good);
  } else {
    out += kReplacementCharacter;
  }
  return good;
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
  out += '"';
  std::size_t i = 0;
  while (i < text.size()) {
    std::size_t end = i;
    while (end < text.size() && IsPlain(Byte(text, end))) ++end;
    out += text.substr(i, end - i);
    i = end;
    if (i == text.size()) break;
    if (Byte(text, i) >= 0x80) {
      i += AppendSequence(out, text, i);
    } else {
      AppendEscape(out, Byte(text, i));
      ++i;
    }
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
