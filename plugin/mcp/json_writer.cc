#include "mcp/json_writer.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "mcp/json_escape.h"
#include "mcp/json_reader.h"
#include "support/utf8.h"

namespace mcp {
namespace {

using nlohmann::json;

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
  while (!text.empty()) {
    const std::size_t valid = support::ValidUtf8Prefix(text);
    AppendEscaped(out, text.substr(0, valid), Escaping::kOnce);
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
    // As `dump` writes them, without the stream that it makes for each value.
    case json::value_t::boolean:
      out += value.get<bool>() ? "true" : "false";
      return;
    case json::value_t::number_integer:
      out += std::to_string(value.get<std::int64_t>());
      return;
    case json::value_t::number_unsigned:
      out += std::to_string(value.get<std::uint64_t>());
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
