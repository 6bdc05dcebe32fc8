#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcp {

/// Checks values against the part of JSON Schema (2020-12) that tool inputs use: `type` (one or a
/// list), `properties`, `required`, `additionalProperties: false`, `items`, `minimum`, `maximum`
/// and `enum`; `title`, `description`, `default` and `examples` say nothing. Made once from the
/// very schema that `tools/list` serves. Immutable, so any thread may use it.
class Schema {
 public:
  /// Throws std::invalid_argument when `schema` uses anything else or a keyword wrongly: a
  /// constraint that is served but not checked would be a lie.
  explicit Schema(const nlohmann::json& schema);

  /// What is wrong with `value`, first flaw only: which property, what was expected, what came.
  /// Nothing when the value is right.
  [[nodiscard]] std::optional<std::string> FindFlaw(const nlohmann::json& value) const;

 private:
  void ReadType(const nlohmann::json& type);
  void ReadKeyword(const std::string& keyword, const nlohmann::json& value);
  [[nodiscard]] std::optional<std::string> FindFlaw(const nlohmann::json& value,
                                                    const std::string& where) const;
  [[nodiscard]] std::optional<std::string> FindRangeFlaw(const nlohmann::json& value,
                                                         const std::string& where) const;
  [[nodiscard]] std::optional<std::string> FindObjectFlaw(const nlohmann::json& value,
                                                          const std::string& where) const;

  std::vector<std::string> types_;  // empty: any
  std::vector<std::pair<std::string, Schema>> properties_;
  std::vector<std::string> required_;
  bool additional_properties_ = true;
  std::vector<Schema> items_;  // none or one: of every element
  std::optional<double> minimum_;
  std::optional<double> maximum_;
  std::vector<nlohmann::json> enum_;  // empty: any
};

}  // namespace mcp
