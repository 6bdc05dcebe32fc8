#include "mcp/schema.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "mcp/json_writer.h"
#include "support/join.h"

namespace mcp {
namespace {

using nlohmann::json;
using support::Join;

constexpr std::array<std::string_view, 7> kTypes = {"null",   "boolean", "object", "array",
                                                    "number", "integer", "string"};

/// Longest value that an error text repeats, in bytes of JSON.
constexpr std::size_t kMaxQuotedValue = 60;

/// JSON Schema counts 1.0 as an integer.
bool IsInteger(const json& value) {
  return value.is_number_integer() ||
         (value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>());
}

/// Tools read integers of 64 bits; converting any other number is undefined.
bool FitsInto64Bits(double number) {
  return number >= -0x1p63 && number < 0x1p64;
}

bool HasType(const json& value, const std::string& type) {
  if (type == "integer") return IsInteger(value);
  return value.type_name() == type;
}

/// "integer 7", "string \"abc\"", "object": short enough for a message.
std::string Describe(const json& value) {
  std::string text(value.is_number_integer() ? "integer" : value.type_name());
  if (value.is_null() || value.is_structured()) return text;
  if (value.is_string() && value.get_ref<const std::string&>().size() > kMaxQuotedValue) {
    return text + " of " + std::to_string(value.get_ref<const std::string&>().size()) + " bytes";
  }
  return text + " " + ToJson(value);
}

/// 10, not 10.0.
std::string ShortNumber(double number) {
  return IsInteger(number) ? std::to_string(std::llround(number)) : json(number).dump();
}

[[noreturn]] void Refuse(const std::string& what) {
  throw std::invalid_argument("unsupported JSON Schema: " + what);
}

/// "name", or "where.name": what an error text calls a property.
std::string Member(const std::string& where, const std::string& name) {
  return where.empty() ? name : where + "." + name;
}

std::string Quoted(const std::string& where) {
  return where.empty() ? "the arguments" : "property " + ToJson(where);
}

}  // namespace

Schema::Schema(const json& schema) {
  for (const auto& [keyword, value] : schema.get_ref<const json::object_t&>()) {
    ReadKeyword(keyword, value);
  }
}

// The conversions throw where a value has the wrong type.
void Schema::ReadKeyword(const std::string& keyword, const json& value) {
  using Strings = std::vector<std::string>;
  if (keyword == "type") {
    types_ = value.is_string() ? Strings{value.get<std::string>()} : value.get<Strings>();
    if (types_.empty()) Refuse("\"type\" must name a type");
    for (const std::string& name : types_) {
      const bool known = std::find(kTypes.begin(), kTypes.end(), name) != kTypes.end();
      if (!known) Refuse("type \"" + name + "\"");
    }
  } else if (keyword == "properties") {
    for (const auto& [name, property] : value.get_ref<const json::object_t&>()) {
      properties_.emplace_back(name, Schema(property));
    }
  } else if (keyword == "required") {
    required_ = value.get<Strings>();
  } else if (keyword == "additionalProperties") {
    additional_properties_ = value.get<bool>();
  } else if (keyword == "items") {
    items_.emplace_back(value);
  } else if (keyword == "minimum") {
    minimum_ = value.get<double>();
  } else if (keyword == "maximum") {
    maximum_ = value.get<double>();
  } else if (keyword == "enum") {
    enum_ = value.get<std::vector<json>>();
    if (enum_.empty()) Refuse("\"enum\" must not be empty");
  } else if (keyword != "title" && keyword != "description" && keyword != "default" &&
             keyword != "examples") {
    Refuse("keyword \"" + keyword + "\"");
  }
}

std::optional<std::string> Schema::FindError(const json& value, const std::string& where) const {
  const bool type_fits =
      types_.empty() || std::any_of(types_.begin(), types_.end(),
                                    [&value](const auto& type) { return HasType(value, type); });
  if (!type_fits) {
    return Quoted(where) + ": expected " + Join(types_, " or ") + ", got " + Describe(value);
  }
  if (!enum_.empty() && std::find(enum_.begin(), enum_.end(), value) == enum_.end()) {
    std::vector<std::string> choices;
    for (const json& choice : enum_) choices.push_back(ToJson(choice));
    return Quoted(where) + ": expected one of " + Join(choices) + ", got " + Describe(value);
  }
  if (value.is_number()) return FindNumberError(value, where);
  if (value.is_object()) return FindObjectError(value, where);
  if (!value.is_array() || items_.empty()) return std::nullopt;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const std::string element = where + "[" + std::to_string(i) + "]";
    if (auto error = items_.front().FindError(value[i], element)) return error;
  }
  return std::nullopt;
}

std::optional<std::string> Schema::FindNumberError(const json& value,
                                                   const std::string& where) const {
  const auto number = value.get<double>();
  std::string expected;
  if (minimum_ && number < *minimum_) {
    expected = "at least " + ShortNumber(*minimum_);
  } else if (maximum_ && number > *maximum_) {
    expected = "at most " + ShortNumber(*maximum_);
  } else if (value.is_number_float() && !FitsInto64Bits(number) &&
             std::find(types_.begin(), types_.end(), "integer") != types_.end()) {
    expected = "a number that fits into 64 bits";
  }
  if (expected.empty()) return std::nullopt;
  return Quoted(where) + ": expected " + expected + ", got " + Describe(value);
}

std::optional<std::string> Schema::FindObjectError(const json& value,
                                                   const std::string& where) const {
  for (const std::string& name : required_) {
    if (!value.contains(name)) return Quoted(Member(where, name)) + ": required, but missing";
  }
  for (const auto& [name, member] : value.items()) {
    const auto property = std::find_if(properties_.begin(), properties_.end(),
                                       [&key = name](const auto& p) { return p.first == key; });
    if (property != properties_.end()) {
      if (auto error = property->second.FindError(member, Member(where, name))) return error;
    } else if (!additional_properties_) {
      std::vector<std::string> names;
      for (const auto& property_schema : properties_) names.push_back(property_schema.first);
      return Quoted(Member(where, name).substr(0, kMaxQuotedValue)) +
             ": unexpected; expected only " +
             (names.empty() ? std::string("an empty object") : Join(names));
    }
  }
  return std::nullopt;
}

}  // namespace mcp
