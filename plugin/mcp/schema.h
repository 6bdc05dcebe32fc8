#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcp {

/// Checks values against the part of JSON Schema (2020-12) that tool inputs use: `type` (one or a
/// list), `properties`, `required`, `additionalProperties: false`, `items`, `minimum`, `maximum`
/// and `enum`. Ignores `title`, `description`, `default` and `examples`. Immutable, so any thread
/// may use it.
class Schema {
 public:
  /// Throws a std::exception when `schema` uses anything else or a keyword wrongly: `tools/list`
  /// must not serve a constraint that is not checked.
  explicit Schema(const nlohmann::json& schema);

  /// The first validation error: which property, what was expected, what came. Nothing when `value`
  /// is valid. `where` is the path of `value`, such as "nested.deep".
  [[nodiscard]] std::optional<std::string> FindError(const nlohmann::json& value,
                                                     const std::string& where = "") const;

 private:
  void ReadKeyword(const std::string& keyword, const nlohmann::json& value);
  [[nodiscard]] std::optional<std::string> FindNumberError(const nlohmann::json& value,
                                                           const std::string& where) const;
  [[nodiscard]] std::optional<std::string> FindObjectError(const nlohmann::json& value,
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
