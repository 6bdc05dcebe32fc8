// SPDX-License-Identifier: Apache-2.0
#include "mcp/schema.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "mcp/json_writer.h"
#include "mcp/message.h"
#include "support/format.h"
#include "support/join.h"

namespace mcp {
namespace {

using nlohmann::json;
using support::Format;
using support::Join;

/// Longest value or name that an error text repeats, in bytes.
constexpr std::size_t kMaxQuoted = 60;

/// JSON Schema counts 1.0 as an integer. Tools read integers of 64 bits.
bool IsInteger(const json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= INT64_MAX;
  if (!value.is_number_float()) return value.is_number_integer();
  const auto number = value.get<double>();
  return std::trunc(number) == number && std::abs(number) < 0x1p63;
}

/// "integer 7", "string \"abc\"", "object": short enough for a message.
std::string Describe(const json& value) {
  std::string text(IsInteger(value) ? "integer" : value.type_name());
  if (value.is_null() || value.is_structured()) return text;
  if (value.is_string() && value.get_ref<const std::string&>().size() > kMaxQuoted) {
    return Format("{} of {} bytes", text, value.get_ref<const std::string&>().size());
  }
  return Format("{} {}", text, ToJson(value));
}

/// What an error text calls the value at `where`.
std::string Name(const std::string& where) {
  return where.empty() ? "the arguments" : Format("property {}", ToJson(where));
}

std::optional<std::string> FindObjectError(const json& schema, const json& value,
                                           const std::string& where) {
  const auto path = [&where](const std::string& name) {
    return where.empty() ? name : where + "." + name;
  };
  for (const std::string name : schema.value("required", json::array())) {
    if (!value.contains(name)) return Format("{}: required, but missing", Name(path(name)));
  }
  const json properties = schema.value("properties", json::object());
  for (const auto& [name, member] : value.items()) {
    const auto property = properties.find(name);
    if (property != properties.end()) {
      if (auto error = FindSchemaError(*property, member, path(name))) return error;
    } else if (!schema.value("additionalProperties", true)) {
      std::vector<std::string> names;
      for (const auto& known : properties.items()) names.push_back(known.key());
      return Format("{}: unexpected; expected only {}", Name(path(name).substr(0, kMaxQuoted)),
                    names.empty() ? "an empty object" : Join(names));
    }
  }
  return std::nullopt;
}

/// The list, boolean or number that a text stands for, if `property` takes that and no text.
/// Otherwise null.
json FromText(const json& property, const json& value) {
  if (!value.is_string() || !FindSchemaError(property, value)) return nullptr;
  try {
    json meant = ParseJson(value.get<std::string>());
    return meant.is_string() || FindSchemaError(property, meant) ? nullptr : meant;
  } catch (const ProtocolError&) {
    return nullptr;
  }
}

}  // namespace

std::optional<std::string> FindSchemaError(const json& schema, const json& value,
                                           const std::string& where) {
  const auto expected = [&](const std::string& what) {
    return Format("{}: expected {}, got {}", Name(where), what, Describe(value));
  };
  const json type = schema.value("type", json::array());
  const auto types = type.is_string() ? std::vector{type.get<std::string>()}
                                      : type.get<std::vector<std::string>>();
  const bool fits = std::ranges::any_of(types, [&value](const std::string& name) {
    return name == "integer" ? IsInteger(value) : value.type_name() == name;
  });
  if (!types.empty() && !fits) {
    std::string what = Join(types, " or ");
    const bool is_large = value.is_number() && std::abs(value.get<double>()) >= 0x1p63;
    if (is_large && types.back() == "integer") what += " of 64 bits";
    const bool is_list_as_text = value.is_string() && types.back() == "array";
    const std::string how = is_list_as_text ? schema.value("description", "") : "";
    return expected(what) + (how.empty() ? "" : "; " + how);
  }
  if (value.is_string() && schema.contains("maxLength")) {
    const auto& text = value.get_ref<const std::string&>();
    const auto length = std::ranges::count_if(text, [](char c) { return (c & '\xC0') != '\x80'; });
    if (length > schema["maxLength"] || text.find('\0') != text.npos)
      return expected(Format("at most {} characters without NUL", ToJson(schema["maxLength"])));
  }
  if (value.is_number()) {
    const json minimum = schema.value("minimum", value);
    if (value < minimum) return expected(Format("at least {}", ToJson(minimum)));
    const json maximum = schema.value("maximum", value);
    if (value > maximum) return expected(Format("at most {}", ToJson(maximum)));
  }
  if (schema.contains("enum")) {
    const json& choices = schema["enum"];
    if (std::find(choices.begin(), choices.end(), value) == choices.end()) {
      return expected(Format("one of {}", ToJson(choices)));
    }
  }
  if (value.is_object()) return FindObjectError(schema, value, where);
  if (!value.is_array() || !schema.contains("items")) return std::nullopt;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const std::string element = Format("{}[{}]", where, i);
    if (auto error = FindSchemaError(schema["items"], value[i], element)) return error;
  }
  return std::nullopt;
}

std::optional<json> Understand(const json& schema, const json& value) {
  const json required = schema.value("required", json::array());
  const json properties = schema.value("properties", json::object());
  std::optional<json> understood;
  for (const auto& [name, property] : properties.items()) {
    const auto member = value.find(name);
    if (member == value.end()) continue;
    const bool is_optional = std::count(required.begin(), required.end(), name) == 0;
    const bool may_be_empty = *member == "" && !FindSchemaError(property, nullptr);
    const bool is_absent = is_optional && (member->is_null() || may_be_empty);
    const json meant = FromText(property, *member);
    if (!is_absent && meant.is_null()) continue;
    if (!understood) understood = value;
    if (is_absent) {
      understood->erase(name);
    } else {
      (*understood)[name] = meant;
    }
  }
  return understood;
}

}  // namespace mcp
