// SPDX-License-Identifier: Apache-2.0
// The check of a call's arguments against the tools' schemas.

#include <nlohmann/json.hpp>
#include <vector>

#include "fuzz/input.h"
#include "mcp/schema.h"
#include "support/utf8.h"
#include "tools/tool_list.h"

namespace {

/// Bytes of an error text: it must not grow with what the client sent.
constexpr std::size_t kMaxText = 4096;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<mcp::ToolDefinition> tools = tools::Definitions();
  fuzz::Input input(data, size);
  const nlohmann::json& schema = tools.at(input.Below(tools.size())).input_schema;
  const nlohmann::json arguments = nlohmann::json::parse(input.Rest(), nullptr, false);
  if (arguments.is_discarded()) return 0;
  if (const auto error = mcp::FindSchemaError(schema, arguments)) {
    fuzz::Require(!error->empty() && error->size() <= kMaxText, "an error text is short");
    fuzz::Require(support::IsValidUtf8(*error), "an error text is UTF-8");
  } else {
    fuzz::Require(arguments.is_object(), "arguments are an object");
  }
  return 0;
}
