// What `limactl mcp doctor` prints.

#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>
#include <string>

#include "integration/doctor_fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_support::ProcessResult;

TEST_F(Doctor, FindsNothingWrongWithASoundInstance) {
  Start();
  const json checks = Examine();
  EXPECT_THAT(
      With("passed", checks),
      ::testing::UnorderedElementsAre("limactl", "plugin", "instance", "configuration", "status",
                                      "mounts", "exposure", "settings", "ssh.config", "connect",
                                      "server", "mounted", "shell", "write", "find", "git"))
      << checks.dump(2);
  EXPECT_EQ(checks.at("server").at("text"), "10 tools");
  EXPECT_TRUE(fs::is_empty(project)) << "a file is left of the check of write access";
}

TEST_F(Doctor, PrintsOneLineForEachCheckInPlainAscii) {
  Start();
  const ProcessResult result = RunDoctor({});
  EXPECT_EQ(result.exit_code, 0) << result.output << result.error;
  std::istringstream lines(result.output);
  std::string line;
  std::getline(lines, line);
  EXPECT_THAT(line, AllOf(HasSubstr("limactl-mcp "), HasSubstr("libssh ")));
  int checks = 0;
  while (std::getline(lines, line) && !line.ends_with("passed.")) {
    EXPECT_THAT(line, ::testing::MatchesRegex("ok   [a-z. ]+ [^ ].* \\([0-9]+ ms\\)"));
    ++checks;
  }
  EXPECT_EQ(checks, 16) << result.output;
  for (const char c : result.output) EXPECT_LT(static_cast<unsigned char>(c), 0x80U);
}

TEST_F(Doctor, PrintsTheAdviceBelowAFailure) {
  Start().Stop();
  const ProcessResult result = RunDoctor({"default"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, ::testing::ContainsRegex("\nFAIL status +stopped \\([0-9]+ ms\\)\n"
                                                      " +-> limactl start default\n"));
  EXPECT_THAT(result.output, ::testing::ContainsRegex("\nskip connect +.*see status\n"));
}

TEST_F(Doctor, PrintsOneJsonObject) {
  Start();
  const json report = json::parse(RunDoctor({"--json"}).output, nullptr, false);
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report.at("instance"), "default");
  EXPECT_TRUE(report.contains("version"));
  EXPECT_TRUE(report.contains("libssh"));
  for (const json& check : report.at("checks")) EXPECT_GE(check.at("duration_ms"), 0) << check;
}

}  // namespace
}  // namespace integration
