// The template agent-sandbox, started by a real limactl, and what doctor says of it.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "vm/fixture.h"

namespace vm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing_support::McpClient;
using testing_support::ProcessResult;
using testing_support::RunProcess;

constexpr const char* kName = "agent";

/// What limactl does beside booting, such as copying the image.
constexpr std::chrono::minutes kStartTimeout = kBootTimeout + std::chrono::minutes(5);

bool AnswersOnThisMachine(std::uint16_t port) {
  const support::FileDescriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

class AgentSandbox : public VirtualMachineTest {
 protected:
  void SetUp() override {
    VirtualMachineTest::SetUp();
    const char* const start = std::getenv("LIMACTL_MCP_VM_TEMPLATE");
    ASSERT_NE(start, nullptr) << "tests/vm/run sets it";
    project_ = NewDirectory("writable");
    Delete();
    // Beside the other machine there may be little room; all else is the template's.
    const ProcessResult started =
        RunProcess({.arguments = {"limactl", "--tty=false", "start", "--timeout=20m", "--memory=2",
                                  "--disk=6", "--name=" + std::string(kName),
                                  "--param=project=" + project_.string(), start}},
                   "", kStartTimeout);
    ASSERT_EQ(started.exit_code, 0) << started.error;
  }

  void TearDown() override {
    agent_.reset();
    Delete();
    VirtualMachineTest::TearDown();
  }

  static void Delete() {
    RunProcess({.arguments = {"limactl", "--tty=false", "delete", "--force", kName}}, "",
               kBootTimeout);
  }

  json AgentCalls(const std::string& tool, const json& arguments) {
    if (!agent_) {
      agent_ = std::make_unique<McpClient>(
          testing_support::ChildProcess::Options{.arguments = {"limactl", "mcp", "serve", kName}});
      instructions_of_agent_ = agent_->Initialize().at("instructions");
    }
    const json result = agent_->CallTool(tool, arguments, kGuestTimeout);
    if (!result.value("isError", false)) return result.at("structuredContent");
    throw std::runtime_error(tool + ": " + testing_support::TextOf(result));
  }

  std::string AgentRuns(const std::string& script) {
    return AgentCalls("run_shell_command",
                      {{"command", {"sh", "-c", script}}, {"directory", project_.string()}})
        .at("stdout");
  }

  fs::path project_;
  std::unique_ptr<McpClient> agent_;
  std::string instructions_of_agent_;
};

TEST_F(AgentSandbox, HasTheProjectAndNothingElseOfThisMachine) {
  const ProcessResult examined =
      RunProcess({.arguments = {"limactl", "mcp", "doctor", kName}}, "", kBootTimeout);
  EXPECT_EQ(examined.exit_code, 0);
  EXPECT_THAT(examined.output, HasSubstr("ok   mounted        all 1 of them"));
  std::cout << examined.output;

  AgentCalls("write_file", {{"path", project_ / "file.txt"}, {"content", "by the agent"}});
  EXPECT_EQ(ReadOnHost(project_ / "file.txt"), "by the agent");
  WriteOnHost(project_ / "file.txt", "by the user");
  EXPECT_EQ(AgentRuns("cat file.txt"), "by the user");
  EXPECT_THAT(instructions_of_agent_, HasSubstr("- " + project_.string() + " (writable)\n"));

  EXPECT_EQ(AgentRuns("findmnt -rno TARGET -t 9p,virtiofs,fuse.sshfs"), project_.string() + "\n");

  AgentRuns(
      "nohup python3 -m http.server --bind 127.0.0.1 28791 >/dev/null 2>&1 &\n"
      "until python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 28791))'; do\n"
      "  sleep 1\n"
      "done");
  const fs::path log = fs::path(std::getenv("LIMA_HOME")) / kName / "ha.stderr.log";
  EXPECT_THAT(ReadOnHost(log),
              HasSubstr("TCP (except for SSH) and UDP port forwarding is disabled"));
  EXPECT_FALSE(AnswersOnThisMachine(28791));
}

}  // namespace
}  // namespace vm
