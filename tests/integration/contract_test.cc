// The tools and instructions that the program serves. tests/unit/tools checks the schemas.

#include <gmock/gmock.h>

#include "integration/fixture.h"

namespace integration {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class ServedTools : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeDirectory("root");
    Mount({{Path("root").string(), "", true}});
    tools_ = client().Request("tools/list").at("result").at("tools");
  }
  json tools_;
};

TEST_F(ServedTools, AreWhatInfoPrints) {
  const testing_support::ProcessResult info = RunServer({"info"});
  EXPECT_EQ(info.exit_code, 0);
  EXPECT_EQ(json::parse(info.output).at("tools"), tools_);
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
      {"search_file_content", {{"pattern", json::array({"x"})}}},
      {"start_process", {{"command", {"x"}}, {"directory", "/"}, {"wait_ms", -1}}},
      {"write_process", {{"id", "p1"}, {"signal", "STOP"}}}};
  for (const auto& [tool, arguments] : bad) {
    EXPECT_THAT(Refusal(tool, arguments), ::testing::StartsWith("validating \"arguments\": "))
        << tool << " " << arguments.dump();
  }
}

TEST_F(ServedTools, InstructionsListTheMountsAndThoseWithAStaleCache) {
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
