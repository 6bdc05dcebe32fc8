// What is left of a command in the guest when the client, limactl or the plugin dies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "vm/fixture.h"

namespace vm {
namespace {

namespace fs = std::filesystem;

class ClientDeath : public VirtualMachineTest {
 protected:
  /// Starts a process group that never exits; one of its processes ignores TERM.
  void SetUp() override {
    VirtualMachineTest::SetUp();
    const fs::path directory = NewDirectory("writable");
    Serve();
    BeginCommand("sleep 9753 & trap '' TERM; touch started; while :; do sleep 9753; done",
                 directory);
    Eventually("the command runs", [&] { return fs::exists(directory / "started"); });
  }

  /// Polls in the guest, where a poll needs no login.
  void ExpectNothingLeft() {
    EXPECT_EQ(machine().Shell("for try in 1 2 3 4 5 6 7 8 9 10; do\n"
                              "  pgrep -f '[9]753' >/dev/null || exit 0\n"
                              "  sleep 1\n"
                              "done\n"
                              "pgrep -a -f '[9]753' || true\n"),
              "");
  }
};

// limactl starts the plugin as a child and forwards no signal to it.
TEST_F(ClientDeath, KillingThePluginKillsTheProcessGroup) {
  const std::string limactl = std::to_string(client().process().pid());
  const pid_t plugin = std::atoi(
      testing_support::RunProcess({.arguments = {"pgrep", "-P", limactl}}).output.c_str());
  ASSERT_GT(plugin, 1);
  ASSERT_EQ(::kill(plugin, SIGKILL), 0);
  ExpectNothingLeft();
}

TEST_F(ClientDeath, KillingLimactlAloneKillsTheProcessGroup) {
  client().process().Signal(SIGKILL);  // the plugin's standard input stays open
  ExpectNothingLeft();
}

TEST_F(ClientDeath, EndOfInputKillsTheProcessGroup) {
  (void)client().CloseAndWait();  // not 0 if a slow guest takes longer than the server waits
  ExpectNothingLeft();
}

}  // namespace
}  // namespace vm
