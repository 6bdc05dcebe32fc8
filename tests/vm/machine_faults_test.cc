// Faults of the whole machine while a server is connected to it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

  std::int64_t SendCommand(const std::string& script) {
    return client().SendRequest(
        "tools/call",
        {{"name", "run_shell_command"},
         {"arguments", {{"command", {"bash", "-c", script}}, {"directory", directory_.string()}}}});
  }

  /// A server that has been connected.
  void ServeConnected() {
    Serve();
    EXPECT_EQ(Run({"true"}, directory_).at("exit_code"), 0);
  }

  std::map<std::string, std::int64_t> SendAll() {
    std::map<std::string, std::int64_t> ids;
    for (const auto& [tool, arguments] : AllTools(directory_)) {
      ids[tool] = client().SendRequest("tools/call", {{"name", tool}, {"arguments", arguments}});
    }
    return ids;
  }

  fs::path directory_;
};

TEST_F(Machine, MayBeStoppedAndStartedWhileTheServerRuns) {
  ServeConnected();
  machine().Stop();
  for (const auto& [tool, arguments] : AllTools(directory_)) {
    EXPECT_THAT(Refusal(tool, arguments), HasSubstr("limactl start " + machine().name())) << tool;
  }
  ExpectAnswersAtOnce();
  machine().Start();
  ExpectAllToolsWork(directory_, directory_);
}

TEST_F(Machine, IsStartedByTheServerThatWasToldTo) {
  machine().Stop();
  Serve({"--start"});
  ExpectAnswersAtOnce();
  const std::int64_t id = client().SendRequest(
      "tools/call",
      {{"name", "run_shell_command"},
       {"arguments", {{"command", {"uname", "-n"}}, {"directory", directory_.string()}}},
       {"_meta", {{"progressToken", "start"}}}});
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

TEST_F(Machine, MayFreezeAndThaw) {
  if (!machine().CanFreeze()) {
    GTEST_SKIP() << "the driver of this virtual machine is no process that a test may stop";
  }
  WriteOnHost(directory_ / "file.txt", "old text\n");
  ServeConnected();
  const std::int64_t command = SendCommand("touch started; exec sleep 8642");
  Eventually("the command runs", [this] { return fs::exists(directory_ / "started"); });
  machine().Freeze();
  const auto frozen = Clock::now();
  std::map<std::string, std::int64_t> ids = SendAll();
  ids["command"] = command;
  ExpectAnswersAtOnce();
  // Keep-alives give the line up after a minute, if no limit of a tool's own comes first.
  constexpr std::chrono::seconds kLongest{90};
  for (const auto& [tool, id] : ids) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(frozen + kLongest - Clock::now());
    const json result = client().WaitForResponse(id, left).at("result");
    if (tool == "command") {
      EXPECT_THAT(result.dump(), HasSubstr("may have run"));
    } else {
      EXPECT_TRUE(result.value("isError", false)) << tool << " returned " << result.dump();
    }
  }
  ExpectAnswersAtOnce();
  machine().Thaw();
  // What was on its way when the clock stopped may still arrive: the old file or the new one.
  EXPECT_THAT(Read(directory_ / "file.txt"), AnyOf("old text\n", "new text\n"));
  EXPECT_THAT(ReadOnHost(directory_ / "file.txt"), AnyOf("old text\n", "new text\n"));
  const fs::path after = NewDirectory("writable");
  ExpectAllToolsWork(after, after);
}

TEST_F(Machine, MayBootAnewFromWithin) {
  ServeConnected();
  const std::int64_t id = SendCommand("exec sleep 8642");
  const std::string before = machine().BootId();
  (void)machine().TryShell("sudo -n systemctl reboot");
  const json lost = client().WaitForResponse(id, kGuestTimeout).at("result");
  // The guest may end it properly before the line is gone.
  EXPECT_THAT(lost.dump(), AnyOf(HasSubstr("may have run"), HasSubstr("signal: ")));
  Eventually("the guest has booted", [&] {
    ExpectAnswersAtOnce();
    const auto boot_id = machine().TryShell("cat /proc/sys/kernel/random/boot_id");
    return boot_id.exit_code == 0 && boot_id.output != before;
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
