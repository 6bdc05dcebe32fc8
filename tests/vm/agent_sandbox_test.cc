// An instance that a real limactl makes from the template agent-sandbox, with one mount.
// copy.test.mjs has one without mounts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "vm/fixture.h"

namespace vm {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing_support::ProcessResult;
using testing_support::RunProcess;

constexpr const char* kName = "mounted";

/// limactl also copies the image.
constexpr std::chrono::minutes kStartTimeout = kBootTimeout + std::chrono::minutes(5);

class AgentSandbox : public VirtualMachineTest {
 protected:
  void SetUp() override {
    VirtualMachineTest::SetUp();
    const char* const start = std::getenv("LIMACTL_MCP_VM_TEMPLATE");
    ASSERT_NE(start, nullptr) << "tests/vm/run sets it";
    project_ = NewDirectory("writable");
    Delete();
    // Small, because the other instance runs too. All else is the template's.
    const ProcessResult started =
        RunProcess({.arguments = {"limactl", "--tty=false", "start", "--timeout=20m", "--memory=2",
                                  "--disk=6", "--name=" + std::string(kName),
                                  "--mount-only=" + project_.string() + ":w", start}},
                   "", kStartTimeout);
    ASSERT_EQ(started.exit_code, 0) << started.error;
  }

  void TearDown() override {
    VirtualMachineTest::TearDown();
    Delete();
  }

  static void Delete() {
    RunProcess({.arguments = {"limactl", "--tty=false", "delete", "--force", kName}}, "",
               kBootTimeout);
  }

  fs::path project_;
};

TEST_F(AgentSandbox, HasTheProjectAndNothingElseOfThisMachine) {
  const ProcessResult examined =
      RunProcess({.arguments = {"limactl", "mcp", "doctor", kName}}, "", kBootTimeout);
  EXPECT_EQ(examined.exit_code, 0);
  EXPECT_THAT(examined.output, testing::ContainsRegex("ok +mounted "));
  std::cout << examined.output;

  Serve({}, kName);
  Write(project_ / "file.txt", "by the agent");
  EXPECT_EQ(ReadFile(project_ / "file.txt"), "by the agent");
  WriteFile(project_ / "file.txt", "by the user");
  EXPECT_EQ(Run({"cat", "file.txt"}, project_).at("stdout"), "by the user");
  EXPECT_THAT(instructions(), HasSubstr("- " + project_.string() + " (writable)\n"));

  EXPECT_EQ(
      Run({"findmnt", "-rno", "TARGET", "-t", "9p,virtiofs,fuse.sshfs"}, project_).at("stdout"),
      project_.string() + "\n");

  Run({"sh", "-c",
       "nohup python3 -m http.server --bind 127.0.0.1 28791 >/dev/null 2>&1 &\n"
       "until python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 28791))'; do\n"
       "  sleep 1\n"
       "done"},
      project_);
  const fs::path log = fs::path(std::getenv("LIMA_HOME")) / kName / "ha.stderr.log";
  EXPECT_THAT(ReadFile(log), HasSubstr("TCP (except for SSH) and UDP port forwarding is disabled"));
  EXPECT_NE(RunProcess({.arguments = {"bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/28791"}}).exit_code,
            0);
}

}  // namespace
}  // namespace vm
