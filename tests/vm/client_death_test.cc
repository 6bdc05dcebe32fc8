// What is left of a command in the guest when the client's side dies.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "vm/fixture.h"

namespace vm {
namespace {

namespace fs = std::filesystem;

class DeathOfTheClientsSide : public VirtualMachineTest {
 protected:
  /// Two processes of one group that do not end by themselves; one does not listen to TERM.
  void StartCommand() {
    directory_ = NewDirectory("writable");
    Serve();
    client().SendRequest(
        "tools/call",
        {{"name", "run_shell_command"},
         {"arguments",
          {{"command",
            {"bash", "-c",
             "sleep 9753 & trap '' TERM; touch started; while :; do sleep 9753; done"}},
           {"directory", directory_.string()}}}});
    Eventually("the command runs", [this] { return fs::exists(directory_ / "started"); });
  }

  /// limactl starts the plugin as a child and forwards no signal to it.
  [[nodiscard]] pid_t Plugin() {
    const std::string limactl = std::to_string(client().process().pid());
    const auto children = testing_support::RunProcess({.arguments = {"pgrep", "-P", limactl}});
    return std::atoi(children.output.c_str());
  }

  /// Asked in the guest, where a poll takes no login.
  void ExpectNothingLeft() {
    EXPECT_EQ(machine().Shell("for try in 1 2 3 4 5 6 7 8 9 10; do\n"
                              "  pgrep -f '[9]753' >/dev/null || exit 0\n"
                              "  sleep 1\n"
                              "done\n"
                              "pgrep -a -f '[9]753' || true\n"),
              "");
  }

  fs::path directory_;
};

TEST_F(DeathOfTheClientsSide, KillOfThePluginEndsTheProcessGroup) {
  StartCommand();
  const pid_t plugin = Plugin();
  ASSERT_GT(plugin, 1);
  ASSERT_EQ(::kill(plugin, SIGKILL), 0);
  ExpectNothingLeft();
}

TEST_F(DeathOfTheClientsSide, KillOfLimactlAloneEndsTheProcessGroup) {
  StartCommand();
  client().process().Signal(SIGKILL);  // its standard input, the plugin's too, stays open
  ExpectNothingLeft();
}

TEST_F(DeathOfTheClientsSide, EndOfInputEndsTheProcessGroup) {
  StartCommand();
  (void)client().CloseAndWait();  // not 0 where a slow guest takes longer than the server waits
  ExpectNothingLeft();
}

}  // namespace
}  // namespace vm
