// Faults of the whole machine while a server is connected to it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>

#include "vm/fixture.h"

namespace vm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AnyOf;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

class Machine : public FaultTest {
 protected:
  void SetUp() override {
    FaultTest::SetUp();
    directory_ = NewDirectory("writable");
  }

  /// Starts a server and waits until it is connected.
  void ServeConnected() {
    Serve();
    EXPECT_EQ(Run({"true"}, directory_).at("exit_code"), 0);
  }

  fs::path directory_;
};

TEST_F(Machine, StoppedAndStartedWhileTheServerRuns) {
  ServeConnected();
  machine().Stop();
  for (const auto& [tool, arguments] : CallsOfEveryTool(directory_, "file.txt")) {
    EXPECT_THAT(Refusal(tool, arguments), HasSubstr("limactl start " + machine().name())) << tool;
  }
  ExpectAnswersAtOnce();
  machine().Start();
  ExpectAllToolsWork(directory_, directory_);
}

TEST_F(Machine, StartedByTheServer) {
  machine().Stop();
  Serve({"--start"});
  ExpectAnswersAtOnce();
  const std::int64_t id = client().BeginCall(
      "run_shell_command", {{"command", {"uname", "-n"}}, {"directory", directory_.string()}},
      "start");
  std::string progress;
  json message;
  do {
    message = client().NextMessage(kBootTimeout);
    if (message.value("method", "") == "notifications/progress") {
      progress += message.at("params").value("message", "") + "\n";
    }
  } while (!message.contains("id") || message.at("id") != id);
  EXPECT_EQ(message.at("result").at("structuredContent").at("stdout"),
            "lima-" + machine().name() + "\n")
      << message;
  EXPECT_THAT(progress, HasSubstr("start"));
  EXPECT_EQ(machine().Status(), "Running");
  ExpectAllToolsWork(directory_, directory_);
}

TEST_F(Machine, FrozenAndThawed) {
  if (!machine().IsQemu()) {
    GTEST_SKIP() << "this virtual machine is not a process that a test can stop";
  }
  WriteFile(directory_ / "file.txt", "old text\n");
  ServeConnected();
  const std::int64_t command = BeginCommand("touch started; exec sleep 8642", directory_);
  Eventually("the command runs", [this] { return fs::exists(directory_ / "started"); });
  machine().SignalQemu(SIGSTOP);
  const auto frozen = Clock::now();
  std::map<std::string, std::int64_t> ids = {{"command", command}};
  for (const auto& [tool, arguments] : CallsOfEveryTool(directory_, "file.txt")) {
    ids[tool] = client().BeginCall(tool, arguments);
  }
  ExpectAnswersAtOnce();
  // Keep-alives give the connection up after a minute, if a tool's own limit is not reached first.
  constexpr std::chrono::seconds kTimeout{90};
  for (const auto& [tool, id] : ids) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(frozen + kTimeout - Clock::now());
    const json result = client().WaitForResponse(id, left).at("result");
    if (tool == "command") {
      EXPECT_THAT(result.dump(), HasSubstr("may have run"));
    } else {
      EXPECT_TRUE(result.value("isError", false)) << tool << " returned " << result.dump();
    }
  }
  ExpectAnswersAtOnce();
  machine().SignalQemu(SIGCONT);
  // A write that was under way may still arrive.
  EXPECT_THAT(Read(directory_ / "file.txt"), AnyOf("old text\n", "new text\n"));
  EXPECT_THAT(ReadFile(directory_ / "file.txt"), AnyOf("old text\n", "new text\n"));
  const fs::path after = NewDirectory("writable");
  ExpectAllToolsWork(after, after);
}

TEST_F(Machine, RebootedFromWithin) {
  ServeConnected();
  const std::int64_t id = BeginCommand("exec sleep 8642", directory_);
  const std::string boot_id = "cat /proc/sys/kernel/random/boot_id";
  const std::string before = machine().Shell(boot_id);
  (void)machine().TryShell("sudo -n systemctl reboot");
  const json lost = client().WaitForResponse(id, kGuestTimeout).at("result");
  // The guest may kill the command before the connection is lost.
  EXPECT_THAT(lost.dump(), AnyOf(HasSubstr("may have run"), HasSubstr("signal: ")));
  Eventually("the guest has booted", [&] {
    ExpectAnswersAtOnce();
    const auto now = machine().TryShell(boot_id);
    return now.exit_code == 0 && now.output != before;
  });
  // sshd may be there before the mounts.
  Eventually("the mounts are there", [&] {
    const json listed = Call("list_directory", {{"path", directory_.string()}});
    return !listed.value("isError", false);
  });
  ExpectAllToolsWork(directory_, directory_);
}

}  // namespace
}  // namespace vm
