#include "integration/schema.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <stdexcept>

namespace integration {
namespace {

using nlohmann::json;

bool IsOfType(const json& value, const std::string& type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  throw std::runtime_error("unknown type in a schema: " + type);
}

bool IsOfAnyType(const json& value, const json& types) {
  if (types.is_string()) return IsOfType(value, types.get<std::string>());
  return std::any_of(types.begin(), types.end(),
                     [&](const json& type) { return IsOfType(value, type.get<std::string>()); });
}

void CheckKeywords(const json& schema, const std::string& where) {
  static const std::set<std::string> known = {
      "type", "properties", "required", "additionalProperties", "items", "description", "title"};
  for (const auto& [keyword, rule] : schema.items()) {
    if (known.count(keyword) == 0) {
      throw std::runtime_error(where + ": this checker does not know the keyword " + keyword);
    }
  }
}

void Append(std::vector<std::string>& errors, const std::vector<std::string>& more) {
  errors.insert(errors.end(), more.begin(), more.end());
}

std::vector<std::string> ObjectErrors(const json& schema, const json& value,
                                      const std::string& where) {
  std::vector<std::string> errors;
  const json properties = schema.value("properties", json::object());
  for (const json& name : schema.value("required", json::array())) {
    if (!value.contains(name)) errors.push_back(where + " lacks " + name.dump());
  }
  for (const auto& [name, member] : value.items()) {
    if (properties.contains(name)) {
      Append(errors, SchemaErrors(properties[name], member, where + "." + name));
    } else if (schema.value("additionalProperties", true) == false) {
      errors.push_back(where + " has an additional property \"" + name + "\"");
    }
  }
  return errors;
}

}  // namespace

std::vector<std::string> SchemaErrors(const json& schema, const json& value,
                                      const std::string& where) {
  CheckKeywords(schema, where);
  if (schema.contains("type") && !IsOfAnyType(value, schema["type"])) {
    return {where + " is not of type " + schema["type"].dump()};
  }
  std::vector<std::string> errors;
  if (value.is_object()) Append(errors, ObjectErrors(schema, value, where));
  if (value.is_array() && schema.contains("items")) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      Append(errors,
             SchemaErrors(schema["items"], value[i], where + "[" + std::to_string(i) + "]"));
    }
  }
  return errors;
}

json Contract() {
  std::ifstream file(LIMACTL_MCP_CONTRACT);
  if (!file) throw std::runtime_error("cannot read " LIMACTL_MCP_CONTRACT);
  return json::parse(file);
}

}  // namespace integration
