#include "mcp/schema.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "mcp/json_reader.h"
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

bool IsInteger(const json& value) {
  if (IsWholeNumber(value)) return true;
  // JSON Schema counts 1.0 as an integer.
  return value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>();
}

/// Whether a tool that reads an integer can: to convert any other number is undefined.
bool FitsInto64Bits(double number) {
  return number >= -0x1p63 && number < 0x1p64;
}

bool HasType(const json& value, const std::string& type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "integer") return IsInteger(value);
  return value.is_number() || IsWholeNumber(value);
}

std::string_view TypeName(const json& value) {
  if (value.is_binary() || value.is_number_integer()) return "integer";
  if (value.is_number_float()) return "number";
  return value.type_name();
}

/// "integer 7", "string \"abc\"", "object": what came, short enough for a message.
std::string Describe(const json& value) {
  std::string text(TypeName(value));
  if (value.is_null() || value.is_object() || value.is_array()) return text;
  if (value.is_string() && value.get_ref<const std::string&>().size() > kMaxQuotedValue) {
    return text + " of " + std::to_string(value.get_ref<const std::string&>().size()) + " bytes";
  }
  const std::string literal = ToJson(value);
  return literal.size() > kMaxQuotedValue ? text : text + " " + literal;
}

/// 10, not 10.0.
std::string ShortNumber(double number) {
  constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
  const bool is_integer = std::trunc(number) == number && std::abs(number) < kExactIntegers;
  return is_integer ? std::to_string(std::llround(number)) : json(number).dump();
}

[[noreturn]] void Refuse(const std::string& what) {
  throw std::invalid_argument("unsupported JSON Schema: " + what);
}

std::vector<std::string> StringList(const std::string& keyword, const json& value) {
  if (!value.is_array()) Refuse("\"" + keyword + "\" must be a list");
  std::vector<std::string> list;
  for (const json& element : value) {
    if (!element.is_string()) Refuse("\"" + keyword + "\" must hold strings");
    list.push_back(element.get<std::string>());
  }
  return list;
}

double Bound(const std::string& keyword, const json& value) {
  if (!value.is_number()) Refuse("\"" + keyword + "\" must be a number");
  return value.get<double>();
}

/// "name", or "where.name": what an error text calls a property.
std::string Member(const std::string& where, const std::string& name) {
  if (where.empty()) return name;
  return where + "." + name;
}

std::string Quoted(const std::string& where) {
  if (where.empty()) return "the arguments";
  std::string text = "property ";
  AppendJsonString(text, where);
  return text;
}

}  // namespace

Schema::Schema(const json& schema) {
  if (!schema.is_object()) Refuse("a schema must be an object");
  for (const auto& [keyword, value] : schema.items()) ReadKeyword(keyword, value);
}

void Schema::ReadKeyword(const std::string& keyword, const json& value) {
  if (keyword == "type") {
    ReadType(value);
  } else if (keyword == "properties") {
    if (!value.is_object()) Refuse("\"properties\" must be an object");
    for (const auto& [name, property] : value.items()) {
      properties_.emplace_back(name, Schema(property));
    }
  } else if (keyword == "required") {
    required_ = StringList(keyword, value);
  } else if (keyword == "additionalProperties") {
    if (!value.is_boolean()) Refuse("\"additionalProperties\" must be true or false");
    additional_properties_ = value.get<bool>();
  } else if (keyword == "items") {
    items_.emplace_back(value);
  } else if (keyword == "minimum") {
    minimum_ = Bound(keyword, value);
  } else if (keyword == "maximum") {
    maximum_ = Bound(keyword, value);
  } else if (keyword == "enum") {
    if (!value.is_array() || value.empty()) Refuse("\"enum\" must be a list with elements");
    enum_.assign(value.begin(), value.end());
  } else if (keyword != "title" && keyword != "description" && keyword != "default" &&
             keyword != "examples") {
    Refuse("keyword \"" + keyword + "\"");
  }
}

void Schema::ReadType(const json& type) {
  types_ = type.is_string() ? std::vector{type.get<std::string>()} : StringList("type", type);
  if (types_.empty()) Refuse("\"type\" must name a type");
  for (const std::string& name : types_) {
    if (std::find(kTypes.begin(), kTypes.end(), name) == kTypes.end()) {
      Refuse("type \"" + name + "\"");
    }
  }
}

std::optional<std::string> Schema::FindFlaw(const json& value) const {
  return FindFlaw(value, "");
}

std::optional<std::string> Schema::FindFlaw(const json& value, const std::string& where) const {
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
  if (value.is_object()) return FindObjectFlaw(value, where);
  if (value.is_array() && !items_.empty()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string element = where + "[" + std::to_string(i) + "]";
      if (auto flaw = items_.front().FindFlaw(value[i], element)) return flaw;
    }
  }
  return FindRangeFlaw(value, where);
}

std::optional<std::string> Schema::FindRangeFlaw(const json& value,
                                                 const std::string& where) const {
  if (!value.is_number() && !IsWholeNumber(value)) return std::nullopt;
  // What does not fit into 64 bits still has a sign and a size.
  const double number = value.is_binary() ? std::stod(WholeNumberText(value)) : value.get<double>();
  if (minimum_ && number < *minimum_) {
    return Quoted(where) + ": expected at least " + ShortNumber(*minimum_) + ", got " +
           Describe(value);
  }
  if (maximum_ && number > *maximum_) {
    return Quoted(where) + ": expected at most " + ShortNumber(*maximum_) + ", got " +
           Describe(value);
  }
  const bool is_integer = std::find(types_.begin(), types_.end(), "integer") != types_.end();
  if (value.is_binary() || (is_integer && value.is_number_float() && !FitsInto64Bits(number))) {
    return Quoted(where) + ": expected a number that fits into 64 bits, got " + Describe(value);
  }
  return std::nullopt;
}

std::optional<std::string> Schema::FindObjectFlaw(const json& value,
                                                  const std::string& where) const {
  for (const std::string& name : required_) {
    if (!value.contains(name)) return Quoted(Member(where, name)) + ": required, but missing";
  }
  for (const auto& [name, member] : value.items()) {
    const auto property = std::find_if(properties_.begin(), properties_.end(),
                                       [&key = name](const auto& p) { return p.first == key; });
    if (property != properties_.end()) {
      if (auto flaw = property->second.FindFlaw(member, Member(where, name))) return flaw;
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
