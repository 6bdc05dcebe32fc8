// What the program says about itself: the tools it serves, and its version.

#include <gmock/gmock.h>

#include "integration/fixture.h"
#include "integration/schema.h"

namespace integration {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ServedTools : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeDirectory("root");
    Mount({{Path("root").string(), "", true}});
    tools_ = client().Request("tools/list").at("result").at("tools");
  }
  json tools_;
};

/// Everything that the contract demands of a schema stands in the served one.
void ExpectHolds(const json& contract, const json& served, const std::string& where) {
  if (!contract.is_object()) {
    EXPECT_EQ(contract, served) << where;
    return;
  }
  for (const auto& [key, rule] : contract.items()) {
    ASSERT_TRUE(served.contains(key)) << where << " lacks " << key;
    ExpectHolds(rule, served.at(key), where + "." + key);
  }
}

TEST_F(ServedTools, AreTheSixOfTheContractAndReplaceInAlphabeticalOrder) {
  std::vector<std::string> names;
  for (const json& tool : tools_) names.push_back(tool.at("name"));
  EXPECT_THAT(names, ElementsAre("glob", "list_directory", "read_file", "replace",
                                 "run_shell_command", "search_file_content", "write_file"));
}

TEST_F(ServedTools, HoldTheContractsSchemas) {
  const json contract = Contract();
  for (const json& tool : tools_) {
    const std::string name = tool.at("name");
    if (!contract.contains(name)) continue;
    ExpectHolds(contract[name]["inputSchema"], tool.at("inputSchema"), name + ".inputSchema");
    ExpectHolds(contract[name]["outputSchema"], tool.at("outputSchema"), name + ".outputSchema");
  }
}

TEST_F(ServedTools, DescribeThemselvesAndEveryInput) {
  for (const json& tool : tools_) {
    EXPECT_THAT(tool.at("description").get<std::string>(), Not(IsEmpty()));
    EXPECT_THAT(tool.at("annotations").at("title").get<std::string>(), Not(IsEmpty()));
    for (const auto& [name, property] : tool.at("inputSchema").at("properties").items())
      EXPECT_TRUE(property.contains("description")) << tool.at("name") << "." << name;
  }
}

TEST_F(ServedTools, AreWhatInfoPrints) {
  const testing_support::ProcessResult info = RunServer({"info"});
  EXPECT_EQ(info.exit_code, 0);
  EXPECT_EQ(json::parse(info.output).at("tools"), tools_);
}

TEST_F(ServedTools, UnknownToolIsAProtocolError) {
  const json response =
      client().Request("tools/call", {{"name", "no_such_tool"}, {"arguments", json::object()}});
  EXPECT_EQ(response.at("error").at("code"), -32602);
  EXPECT_EQ(response.at("error").at("message"), "unknown tool \"no_such_tool\"");
}

TEST_F(ServedTools, ArgumentsThatBreakTheSchemaAreToolErrors) {
  const std::vector<std::pair<std::string, json>> bad = {
      {"read_file", json::object()},
      {"read_file", {{"path", 7}}},
      {"read_file", {{"path", "/x"}, {"unknown", true}}},
      {"write_file", {{"path", "/x"}}},
      {"list_directory", {{"path", nullptr}}},
      {"glob", {{"path", "/x"}}},
      {"run_shell_command", {{"command", "ls -l"}, {"directory", "/"}}},
      {"run_shell_command", {{"command", json::array({"ls", 1})}, {"directory", "/"}}},
      {"run_shell_command", {{"command", json::array({"ls"})}}},
      {"search_file_content", {{"pattern", json::array({"x"})}}}};
  for (const auto& [tool, arguments] : bad) {
    EXPECT_THAT(Refusal(tool, arguments), ::testing::StartsWith("validating \"arguments\": "))
        << tool << " " << arguments.dump();
  }
}

TEST_F(ServedTools, AbsentArgumentsAreAnEmptyObject) {
  const json response = client().Request("tools/call", {{"name", "read_file"}});
  EXPECT_TRUE(response.at("result").at("isError"));
  EXPECT_THAT(testing_support::TextOf(response["result"]), HasSubstr("path"));
}

TEST_F(ServedTools, InstructionsListTheMounts) {
  Serve({.initialize = false});
  EXPECT_THAT(client().Initialize().at("instructions").get<std::string>(),
              HasSubstr(Path("root").string()));
}

TEST_F(ServedTools, InstructionsNameTheMountsWhoseCacheMayBeOld) {
  testing_support::LoopbackInstance::Options options;
  options.name = "cached";
  options.mounts = {{Path("old").string(), "", false}, {Path("new").string(), "", true}};
  StartInstance(options);
  Serve({.arguments = {"cached"}, .initialize = false});
  const std::string text = client().Initialize().at("instructions").get<std::string>();
  EXPECT_THAT(text, HasSubstr(Path("old").string() + " (read-only): the guest may not notice"));
  EXPECT_THAT(text, HasSubstr(Path("new").string() + " (writable)\n"));
}

}  // namespace
}  // namespace integration
