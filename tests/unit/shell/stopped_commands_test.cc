// Commands whose caller stops them or goes away.

#include <gmock/gmock.h>

#include <thread>

#include "support/errors.h"
#include "unit/shell/shells_fixture.h"

namespace shell {
namespace {

/// A bash script with a child; both ignore TERM. Writes their process ids to the files main and
/// child, prints "before" and creates the file ready.
constexpr const char* kStubbornCommand =
    "trap '' TERM; (sh -c 'echo $PPID' >child; while :; do sleep 0.2; done) & echo $$ >main; "
    "until [ -s child ]; do sleep 0.01; done; echo before; touch ready; "
    "while :; do sleep 0.2; done";

class StoppedCommands : public EachShellTest {
 protected:
  /// Stops it once it has made the file "ready". True if the guest confirms its end.
  bool StopWhenReady(const std::string& script, const std::string& shell = "/bin/bash") {
    support::StopSource source;
    std::thread stopper([&] {
      Comes("ready");
      source.Stop(support::StopReason::kCancelled);
    });
    TextSink sink;
    bool verified = false;
    try {
      const Words words{"bash", "-c", script};
      shells_->RunCommand({ShellCommand(words), "bash", work_, shell}, sink, source.context());
    } catch (const StoppedCommand& stopped) {
      verified = stopped.verified();
    }
    stopper.join();
    output_ = sink.output;
    return verified;
  }

  std::string output_;  ///< of the command that was stopped last
};

TEST_P(StoppedCommands, EndWithAllTheirProcesses) {
  for (const char* shell : {"/bin/bash", "/bin/dash"}) {
    EXPECT_TRUE(StopWhenReady(kStubbornCommand, shell));
    EXPECT_EQ(output_, "before\n");
    EXPECT_TRUE(Ends("main"));
    EXPECT_TRUE(Ends("child"));
    std::filesystem::remove(work_ + "/ready");
  }
  EXPECT_EQ(Run({"echo", "x"}), (Result{0, "x\n", ""}));
}

TEST_P(StoppedCommands, EndAlsoIfTheGuestCannotSearchForThem) {
  options_.environment.back() = "PATH=" + work_ + ":/usr/bin:/bin";
  Write(work_ + "/grep", "#!/bin/sh\n", true);
  Restart();
  StopWhenReady(kStubbornCommand);
  EXPECT_TRUE(Ends("main"));
  EXPECT_TRUE(Ends("child"));
}

TEST_P(StoppedCommands, GetTheTimeToCleanUp) {
  EXPECT_TRUE(StopWhenReady(
      "trap 'echo cleaned; touch cleaned; exit' TERM; touch ready; while :; do sleep 0.01; done"));
  EXPECT_EQ(output_, "cleaned\n");
}

TEST_P(StoppedCommands, EndWithOtherProcessGroupsOfTheirSession) {
  EXPECT_TRUE(
      StopWhenReady("timeout 60 sh -c 'echo $$ >main; exec sleep 60' & set -m; "
                    "sh -c 'until [ -s main ]; do sleep 0.01; done; echo $$ >child; touch ready; "
                    "exec sleep 60'"));
  EXPECT_TRUE(Ends("main"));
  EXPECT_TRUE(Ends("child"));
}

TEST_P(StoppedCommands, LeaveOtherSessionsAlone) {
  EXPECT_TRUE(
      StopWhenReady("setsid sh -c 'touch ready; until [ -e go ]; do sleep 0.01; done; "
                    "touch done' >/dev/null 2>&1 & sleep 60"));
  Write(work_ + "/go", "");
  EXPECT_TRUE(Comes("done"));
}

TEST_P(StoppedCommands, EndWhenTheClientIsGone) {
  std::thread breaker([&] {
    Comes("ready");
    launcher_->BreakConnection();
  });
  try {
    Run({"bash", "-c", kStubbornCommand});
    ADD_FAILURE();
  } catch (const support::ConnectionLost& lost) {
    EXPECT_TRUE(lost.may_have_run());
    EXPECT_THAT(lost.what(), ::testing::EndsWith("; the command may have run"));
  }
  breaker.join();
  EXPECT_TRUE(Ends("main"));
  EXPECT_TRUE(Ends("child"));
}

INSTANTIATE_TEST_SUITE_P(Shells, StoppedCommands, kShells, EachShellTest::NameOf);

TEST_F(ShellsTest, EndWhatTakesTooLong) {
  const Words words{"bash", "-c", "echo before; echo $$ >main; sleep 60"};
  TextSink sink;
  EXPECT_THROW(shells_->RunCommand({ShellCommand(words), "bash", work_, "/bin/bash"}, sink,
                                   support::Context().WithTimeout(1s)),
               StoppedCommand);
  EXPECT_EQ(sink.output, "before\n");
  EXPECT_TRUE(Ends("main"));
}

TEST_F(ShellsTest, EndAProfileThatTakesTooLong) {
  WriteProfile("echo $$ >" + work_ + "/main; exec sleep 60");
  EXPECT_THROW(Run({"true"}, support::Context().WithTimeout(1s)), support::Stopped);
  EXPECT_TRUE(Ends("main"));
}

TEST_F(ShellsTest, DoNotWaitForAScriptThatIsStopped) {
  const auto begin = support::Clock::now();
  EXPECT_THROW(Script("trap '' TERM; echo $$ >" + work_ + "/main; while :; do sleep 1; done",
                      support::Context().WithTimeout(300ms)),
               support::Stopped);
  EXPECT_LT(support::Clock::now() - begin, 900ms);
  EXPECT_TRUE(Ends("main"));
}

TEST_F(ShellsTest, ReportThatALostScriptMayBeRepeated) {
  Script(":");
  std::thread breaker([&] {
    Comes("ready");
    launcher_->BreakConnection();
  });
  try {
    Script("touch " + work_ + "/ready; sleep 60");
    ADD_FAILURE();
  } catch (const support::ConnectionLost& lost) {
    EXPECT_FALSE(lost.may_have_run());
    EXPECT_THAT(lost.what(), ::testing::EndsWith("; nothing was changed in the guest"));
  }
  breaker.join();
}

TEST_F(ShellsTest, EndWithTheirOwner) {
  Run({"true"});
  Script(":");
  shells_.reset();
  for (const pid_t session : launcher_->sessions()) {
    EXPECT_TRUE(Eventually([&] { return kill(-session, 0) != 0; }));
  }
}

}  // namespace
}  // namespace shell
