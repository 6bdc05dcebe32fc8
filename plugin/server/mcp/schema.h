// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace mcp {

/// The first validation error of `value`, by the part of JSON Schema (2020-12) that tools use:
/// `type`, `properties`, `required`, `additionalProperties` (true or false), `items`, `minimum`,
/// `maximum` and `enum`. `where` is its path ("nested.deep"); empty for the arguments as a whole.
[[nodiscard]] std::optional<std::string> FindSchemaError(const nlohmann::json& schema,
                                                         const nlohmann::json& value,
                                                         const std::string& where = "");

/// The arguments as they are meant, if not as they came. Left out is what counts as not given: null
/// for an optional property, and "" for one that may also be null. A text that is exactly the JSON
/// of the list, boolean or number that a property takes is that: some clients send every argument
/// as text.
[[nodiscard]] std::optional<nlohmann::json> Understand(const nlohmann::json& schema,
                                                       const nlohmann::json& value);

}  // namespace mcp
