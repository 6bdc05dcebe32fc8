#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace integration {

/// Where `value` breaks `schema`, one text each; empty when it satisfies it. Knows the keywords
/// that the contract uses (type, properties, required, additionalProperties, items) and passes over
/// those that restrict nothing (description, title); throws std::runtime_error on any other, so
/// that no rule is left unchecked in silence.
std::vector<std::string> SchemaErrors(const nlohmann::json& schema, const nlohmann::json& value,
                                      const std::string& where = "result");

/// The contract of the six tools: name -> {"inputSchema", "outputSchema"}.
nlohmann::json Contract();

}  // namespace integration
