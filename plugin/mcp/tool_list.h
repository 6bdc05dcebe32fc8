#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/schema.h"
#include "mcp/tool.h"

namespace mcp {

/// Appends the JSON object that describes one tool in `tools/list`.
void AppendDefinition(std::string& out, const ToolDefinition& tool,
                      ResultStyle style = ResultStyle::kStructured);

/// The tools of a server, sorted by name. Immutable, so any thread may use it.
class ToolList {
 public:
  struct Entry {
    std::unique_ptr<Tool> tool;
    Schema input;  ///< of the definition's input_schema
  };

  /// Throws std::invalid_argument when two tools have the same name or an input schema cannot be
  /// checked (see Schema).
  explicit ToolList(std::vector<std::unique_ptr<Tool>> tools);

  /// Null for an unknown name.
  [[nodiscard]] const Entry* Find(std::string_view name) const;

  /// The JSON array for `tools/list`.
  [[nodiscard]] std::string Describe(ResultStyle style) const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace mcp
