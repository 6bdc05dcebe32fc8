#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace mcp {

/// Checks a value against the part of JSON Schema (2020-12) that tools use: `type` (one or a list),
/// `properties`, `required`, `additionalProperties` (true or false), `items`, `minimum`, `maximum`
/// and `enum`. Returns the first validation error: which property, what was expected, what came.
/// `where` is the path of `value`, such as "nested.deep"; empty for the arguments as a whole.
[[nodiscard]] std::optional<std::string> FindSchemaError(const nlohmann::json& schema,
                                                         const nlohmann::json& value,
                                                         const std::string& where = "");

/// Removes the members of an object that count as not given: null for an optional property, and ""
/// for one that may also be null.
void DropAbsent(const nlohmann::json& schema, nlohmann::json& value);

}  // namespace mcp
