// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "mcp/protocol.h"
#include "tools/tool_list.h"

namespace tools {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

json Contract() {
  std::ifstream file(CONTRACT_FILE);
  return json::parse(file);
}

// Announced by Lima's interface, and not in the contract yet.
constexpr const char* kAnnouncedTool = "replace";

// Not in Lima's interface.
const std::set<std::string> kOwnTools = {"read_process", "start_process", "write_process"};

// Optional inputs that Lima's interface does not have, or has announced.
const std::map<std::string, std::set<std::string>> kAddedInputs = {
    {"glob", {"case_sensitive"}},
    {"read_file", {"limit", "offset"}},
    {"search_file_content",
     {"after", "before", "case_sensitive", "context", "fixed_strings", "max_matches_per_file",
      "names_only", "no_ignore", "total_max_matches"}}};

void RemoveDescriptions(json& value) {
  if (value.is_object()) {
    // A property may be named "description": only a text is one.
    if (value.contains("description") && value["description"].is_string()) {
      value.erase("description");
    }
    for (auto& member : value.items()) RemoveDescriptions(member.value());
  } else if (value.is_array()) {
    for (auto& element : value) RemoveDescriptions(element);
  }
}

mcp::ToolDefinition Definition(std::string_view name, const ToolOptions& options = {}) {
  for (mcp::ToolDefinition& definition : Definitions(options)) {
    if (definition.name == name) return std::move(definition);
  }
  throw std::out_of_range(std::string(name));
}

/// Each property has a description, and no schema a keyword that is not checked.
void ExpectDescribed(const json& schema, const std::string& where) {
  static const std::set<std::string> checked = {
      "additionalProperties", "description", "enum", "items", "maxLength", "maximum", "minimum",
      "properties",           "required",    "type"};
  for (const auto& [keyword, value] : schema.items()) EXPECT_TRUE(checked.contains(keyword));
  const json properties = schema.value("properties", json::object());
  for (const auto& [name, property] : properties.items()) {
    EXPECT_TRUE(property.contains("description")) << where << "." << name;
    ExpectDescribed(property, where + "." + name);
  }
  if (schema.contains("items")) ExpectDescribed(schema["items"], where);
}

TEST(Contract, ServesExactlyTheToolsAndSchemasOfLimasInterface) {
  const json contract = Contract();
  ASSERT_EQ(contract.size() + kOwnTools.size() + 1, Definitions().size());
  for (const mcp::ToolDefinition& definition : Definitions()) {
    if (definition.name == kAnnouncedTool || kOwnTools.contains(definition.name)) continue;
    json served = {{"inputSchema", definition.input_schema},
                   {"outputSchema", definition.output_schema}};
    RemoveDescriptions(served);
    const auto added = kAddedInputs.find(definition.name);
    for (const std::string& input :
         added == kAddedInputs.end() ? std::set<std::string>() : added->second) {
      EXPECT_THAT(served["inputSchema"]["required"], Not(Contains(input)));
      EXPECT_EQ(served["inputSchema"]["properties"].erase(input), 1U) << input;
    }
    EXPECT_EQ(served, contract.at(definition.name)) << definition.name;
  }
}

TEST(Contract, AnnouncedToolTakesATextAndItsReplacement) {
  mcp::ToolDefinition replace = Definition(kAnnouncedTool);
  EXPECT_EQ(replace.input_schema["required"], (json{"path", "old_string", "new_string"}));
  EXPECT_EQ(replace.input_schema["properties"]["allow_multiple"]["type"], "boolean");
  EXPECT_EQ(replace.output_schema["properties"]["replacements"]["type"], "integer");
  EXPECT_EQ(replace.annotations.at("idempotentHint"), false);
}

TEST(Contract, ListsToolsInAlphabeticalOrder) {
  const auto definitions = Definitions();
  EXPECT_TRUE(std::is_sorted(definitions.begin(), definitions.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
}

TEST(Contract, EveryToolHasItsTextsHintsAndMarks) {
  const std::set<std::string> changing = {"replace", "run_shell_command", "start_process",
                                          "write_file", "write_process"};
  for (const mcp::ToolDefinition& definition : Definitions()) {
    SCOPED_TRACE(definition.name);
    EXPECT_FALSE(definition.description.empty());
    EXPECT_FALSE(definition.title.empty());
    ExpectDescribed(definition.input_schema, definition.name);
    ExpectDescribed(definition.output_schema, definition.name);

    const json& annotations = definition.annotations;
    const bool changes = changing.contains(definition.name);
    EXPECT_EQ(annotations.at("title"), definition.title);
    EXPECT_EQ(annotations.at("readOnlyHint"), !changes);
    EXPECT_EQ(annotations.at("destructiveHint"), changes);
    EXPECT_TRUE(annotations.at("idempotentHint").is_boolean());
    EXPECT_TRUE(annotations.at("openWorldHint").is_boolean());
    EXPECT_EQ(definition.meta.at("anthropic/alwaysLoad"), true);
  }
  EXPECT_EQ(Definition("run_shell_command").annotations.at("openWorldHint"), true);
  EXPECT_EQ(Definition("read_file").meta.at("anthropic/maxResultSizeChars"), 500'000);
  EXPECT_FALSE(Definition("write_file").meta.contains("anthropic/maxResultSizeChars"));
}

TEST(Contract, ACommandsDescriptionNamesItsTimeLimit) {
  const auto text = [](std::chrono::milliseconds limit) {
    return Definition("run_shell_command", {.command_timeout = limit}).description;
  };
  EXPECT_THAT(Definition("run_shell_command").description, HasSubstr("for up to 9m"));
  EXPECT_THAT(text(std::chrono::seconds(90)),
              HasSubstr("for up to 1m30s; start_process is for longer ones."));
  EXPECT_THAT(text(std::chrono::seconds(0)), HasSubstr("input, without a time limit. Returns"));
}

TEST(Contract, StoppingAProcessSharesNoThreadsWithFileTools) {
  EXPECT_EQ(Definition("read_file").lane, mcp::Lane::kQuick);
  EXPECT_EQ(Definition("run_shell_command").lane, mcp::Lane::kCommand);
  for (const char* name : {"read_process", "start_process", "write_process"}) {
    EXPECT_EQ(Definition(name).lane, mcp::Lane::kWaiting) << name;
  }
}

// An agent sends the definitions with every request to its model. This is about 2,300 tokens.
constexpr std::size_t kMaxDefinitionCharacters = 9'450;

TEST(Contract, DefinitionsForAnAgentAreShort) {
  json listed = json::array();
  for (const mcp::ToolDefinition& definition : Definitions()) {
    listed.push_back(mcp::Describe(definition, mcp::ResultStyle::kText));
    listed.back().erase("outputSchema");  // which no agent shows its model
  }
  EXPECT_LE(listed.dump().size(), kMaxDefinitionCharacters);
}

}  // namespace
}  // namespace tools
