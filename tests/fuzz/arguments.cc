// The JSON reader, beside the library's own, and the check of a call's arguments against the tools'
// schemas.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/input.h"
#include "mcp/json_reader.h"
#include "mcp/schema.h"
#include "support/utf8.h"
#include "tools/contract.h"

namespace {

/// Bytes of an error text: it must not grow with what the client sent.
constexpr std::size_t kLongestText = 4096;

std::vector<mcp::Schema> InputSchemas() {
  std::vector<mcp::Schema> schemas;
  for (const mcp::ToolDefinition& tool : tools::Definitions()) {
    schemas.emplace_back(tool.input_schema);
  }
  return schemas;
}

/// Whether both are equal. Ignores differences of large whole numbers, which the library rounds.
bool AreSame(const nlohmann::json& ours, const nlohmann::json& theirs) {
  if (ours.is_binary()) return theirs.is_number();
  if (ours.type() != theirs.type() || ours.size() != theirs.size()) return false;
  if (!ours.is_structured()) return ours == theirs;
  for (auto mine = ours.begin(), other = theirs.begin(); mine != ours.end(); ++mine, ++other) {
    if (ours.is_object() && mine.key() != other.key()) return false;
    if (!AreSame(*mine, *other)) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<mcp::Schema> schemas = InputSchemas();
  fuzz::Input input(data, size);
  const mcp::Schema& schema = schemas.at(input.Below(schemas.size()));
  const std::string_view text = input.Rest();
  const mcp::JsonText parsed = mcp::ParseJson(text);
  const nlohmann::json theirs = nlohmann::json::parse(text, nullptr, false);
  if (parsed.problem == mcp::JsonText::Problem::kSyntax) {
    // The library takes a NUL for the end.
    fuzz::Require(theirs.is_discarded() || text.find('\0') != std::string_view::npos,
                  "what is refused is no JSON");
  }
  if (parsed.problem == mcp::JsonText::Problem::kNone) {
    fuzz::Require(AreSame(parsed.value, theirs), "the value is the library's");
  }
  fuzz::Require(parsed.explanation.size() <= kLongestText, "an explanation is short");
  if (parsed.problem != mcp::JsonText::Problem::kNone) return 0;
  if (const auto flaw = schema.FindError(parsed.value)) {
    fuzz::Require(!flaw->empty() && flaw->size() <= kLongestText, "a flaw's text is short");
    fuzz::Require(support::IsValidUtf8(*flaw), "a flaw's text is UTF-8");
  } else {
    fuzz::Require(parsed.value.is_object(), "arguments are an object");
  }
  return 0;
}
