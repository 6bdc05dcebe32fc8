#include "tools/run_shell_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "unit/tools/search_tool_fixture.h"

namespace tools {
namespace {

using ::testing::HasSubstr;

class RunShellCommandTool : public SearchToolFixture {
 protected:
  Workspace Acquire(const support::Context& context, mcp::ProgressReporter& progress) override {
    Workspace workspace = SearchToolFixture::Acquire(context, progress);
    workspace.shell = "/bin/sh";
    return workspace;
  }

  static nlohmann::json Arguments(const std::vector<std::string>& command,
                                  const std::string& directory = kHost) {
    return {{"command", command}, {"directory", directory}};
  }

  RunShellCommand tool_{*this, {}};
};

TEST_F(RunShellCommandTool, RunsInTheGuestsDirectory) {
  const auto structured = Call(tool_, Arguments({"pwd"})).structured;
  EXPECT_TRUE(
      std::filesystem::equivalent(structured["stdout"].get<std::string>().substr(
                                      0, structured["stdout"].get<std::string>().find('\n')),
                                  Path("")));
  EXPECT_EQ(structured["exit_code"], 0);
}

TEST_F(RunShellCommandTool, SetsLeadingAssignmentsInTheEnvironment) {
  const auto structured =
      Call(tool_, Arguments({"A=1 2", "B=$x", "sh", "-c", "echo \"$A|$B\""})).structured;
  EXPECT_EQ(structured["stdout"], "1 2|$x\n");
}

TEST_F(RunShellCommandTool, RefusesAnEmptyCommandList) {
  EXPECT_THAT(ErrorOf(tool_, Arguments({})), HasSubstr("command is an empty list"));
}

TEST_F(RunShellCommandTool, RefusesAnArgumentWithNul) {
  EXPECT_THAT(ErrorOf(tool_, Arguments({"echo", std::string("a\0b", 3)})),
              HasSubstr("command[1] holds a NUL"));
}

TEST_F(RunShellCommandTool, RefusesADirectoryOutsideTheRoots) {
  EXPECT_THAT(ErrorOf(tool_, Arguments({"true"}, "/elsewhere")), HasSubstr("/elsewhere"));
  EXPECT_THAT(ErrorOf(tool_, Arguments({"true"}, "src")), HasSubstr("expected an absolute path"));
  EXPECT_EQ(guest_.count(testing_support::Operation::kRun), 0);
}

}  // namespace
}  // namespace tools
