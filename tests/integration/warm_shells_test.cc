// Commands in login shells that were started ahead of them: no command can tell the difference, and
// nothing is lost where one could.

#include "tools/warm_shells.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <thread>

#include "integration/warm_shells_fixture.h"
#include "support/errors.h"
#include "testing/eventually.h"

namespace warm_shells {
namespace {

using ::testing::HasSubstr;
using testing_support::Eventually;

TEST_F(WarmShells, SeeWhatTheCommandBeforeDidToTheProfile) {
  Warm({"true"});
  for (const char* value : {"1", "2", "3"}) {
    Warm(Bash("echo export EDITED=" + std::string(value) + " >~/.bash_profile"));
    EXPECT_EQ(Warm(Bash("echo $EDITED"))["stdout"], value + std::string("\n"));
  }
}

TEST_F(WarmShells, AreNotUsedAfterAProfileInWhichTheyWouldBeDifferent) {
  for (const char* profile :
       {"exit 3", "exec /bin/sh", "exec cat", "set -e", "set -x", "set -o posix", "cd /",
        "trap 'echo bye' EXIT", "trap 'echo debug' DEBUG", "trap '' TERM",
        "shopt -s expand_aliases; alias true='echo alias'", "eval() { echo mine; }",
        "exec() { echo mine; }", "kill -KILL $$", "readonly LIMACTL_MCP=1"}) {
    SCOPED_TRACE(profile);
    WriteProfile(profile);
    Restart();
    Warm({"true"});
    const int before = guest_->cold;
    for (const Words& words : std::vector<Words>{
             {"true"}, Eval("echo $-; exit 4"), {"pwd"}, Bash("echo x >&2; kill -TERM $$")}) {
      Compare(words);
    }
    EXPECT_EQ(guest_->cold - before, 8);
  }
}

TEST_F(WarmShells, AreUsedAfterAProfileThatMovesItsOutput) {
  for (const char* profile : {"exec 2>&1", "exec >/dev/null", "exec 1>&2", "exec <&-"}) {
    SCOPED_TRACE(profile);
    WriteProfile(profile);
    Restart();
    Warm({"true"});
    EXPECT_EQ(ColdStarts([&] { Compare(Bash("echo out; echo err >&2")); }), 1);
  }
}

TEST_F(WarmShells, AreNotTriedAgainAndAgainWhereTheyFail) {
  WriteProfile("exit 0");
  for (int i = 0; i < 8; ++i) Warm({"true"});
  EXPECT_LE(guest_->started, tools::WarmShells::kMostFailures);
}

TEST_F(WarmShells, AreGivenUpWhenTheProfileNeverEndsToPrint) {
  WriteProfile("echo $$ >" + work_ + "/waiting; exec yes");
  tools::WarmShells shells({true, 5min, {}});
  { const tools::WarmShells::Use use(shells, {guest_.get(), work_, shell_}); }
  ASSERT_TRUE(Eventually([&] { return FileSize(work_ + "/waiting") > 0; }, 20s));
  EXPECT_TRUE(EndsSoon("waiting"));
}

TEST_F(WarmShells, AreOnlyForBash) {
  for (const char* shell : {"/bin/sh", "/bin/dash", "/bin/zsh", "/usr/bin/fish", "/bin/ash"}) {
    shell_ = shell;
    Warm({"true"});
    Warm({"true"});
  }
  EXPECT_EQ(guest_->started, 0);
  shell_ = "";  // the guest's own
  Warm({"true"});
  EXPECT_EQ(ColdStarts([&] { Compare(Eval("echo $0 $SHELL")); }), 1);
}

TEST_F(WarmShells, FallBackWhereBashIsMissing) {
  shell_ = Path("missing/bash");
  Warm({"true"});
  Compare({"true"});
}

TEST_F(WarmShells, NoticeThatTheirDirectoryIsNotTheSame) {
  Warm({"true"});
  std::filesystem::rename(work_, work_ + ".old");
  EXPECT_THAT(Warm({"pwd"})["stderr"], HasSubstr("No such file or directory"));
  std::filesystem::rename(work_ + ".old", work_);
  Warm({"true"});
  std::filesystem::rename(work_, work_ + ".old");
  std::filesystem::create_directories(work_);
  Write(work_ + "/new", "");
  EXPECT_EQ(Warm({"ls"})["stdout"], "new\n");
}

TEST_F(WarmShells, AreThrownAwayWhenTheyAreOld) {
  tools::WarmShells shells({true, 0ms, {}});
  const tools::WarmShells::Place place{guest_.get(), work_, shell_};
  { const tools::WarmShells::Use use(shells, place); }
  EXPECT_EQ(guest_->started, 1);
  tools::WarmShells::Use use(shells, place);
  EXPECT_EQ(use.Take({}), nullptr);
}

TEST_F(WarmShells, AreAsManyAsCommandsRunBesideEachOtherAndTwoAtMost) {
  tools::WarmShells shells({true, 5min, {}});
  const tools::WarmShells::Place place{guest_.get(), work_, shell_};
  tools::WarmShells::Use first(shells, place);
  {
    const tools::WarmShells::Use second(shells, place);
    { const tools::WarmShells::Use third(shells, place); }
    EXPECT_EQ(guest_->started, 0) << "commands that run need the channels themselves";
  }
  EXPECT_EQ(guest_->started, 2);
  EXPECT_NE(first.Take({}), nullptr);
  EXPECT_NE(first.Take({}), nullptr);
  EXPECT_EQ(first.Take({}), nullptr);
}

TEST_F(WarmShells, CostNoProcessorTimeWhileTheyWait) {
  Warm({"true"});
  // Where anything polled, no two looks would ever be alike.
  const auto is_quiet = [&] {
    const long before = ContextSwitchesInGuest();
    std::this_thread::sleep_for(1500ms);  // between the two looks
    return ContextSwitchesInGuest() == before;
  };
  EXPECT_TRUE(Eventually(is_quiet, 20s));
  EXPECT_EQ(ColdStarts([&] { Warm({"true"}); }), 0) << "a shell was waiting";
}

TEST_F(WarmShells, WaitForTheSamePlaceOnly) {
  tools::WarmShells shells({true, 5min, {}});
  { const tools::WarmShells::Use use(shells, {guest_.get(), work_, shell_}); }
  tools::WarmShells::Use elsewhere(shells, {guest_.get(), "/", shell_});
  EXPECT_EQ(elsewhere.Take({}), nullptr);
  tools::WarmShells::Use other_shell(shells, {guest_.get(), work_, ""});
  EXPECT_EQ(other_shell.Take({}), nullptr);
  tools::WarmShells::Use same(shells, {guest_.get(), work_, shell_});
  EXPECT_NE(same.Take({}), nullptr);
  EXPECT_EQ(same.Take({}), nullptr);
}

TEST_F(WarmShells, AreNotStartedWhenSwitchedOff) {
  Cold({"true"});
  Cold({"true"});
  EXPECT_EQ(guest_->started, 0);
}

TEST_F(WarmShells, LetBackgroundChildrenLiveWithoutTheirOutputAndChannel) {
  Start({"MaxSessions 4"});
  Warm({"true"});
  for (int i = 0; i < 6; ++i) {
    const std::string go = "go" + std::to_string(i);
    const nlohmann::json result =
        Warm(Bash("mkfifo " + go + "; (read -r x <" + go + "; seq 100000; seq 100000 >&2; touch " +
                  go + ".done) & echo started"));
    EXPECT_EQ(result["stdout"], "started\n");
    EXPECT_EQ(result["stderr"], "");
  }
  for (int i = 0; i < 6; ++i) {
    const std::string go = work_ + "/go" + std::to_string(i);
    std::ofstream(go) << "go\n";
    EXPECT_TRUE(Eventually([&] { return std::filesystem::exists(go + ".done"); }, 20s));
  }
}

TEST_F(WarmShells, EndWhatTakesTooLongAndKeepItsOutput) {
  options_.command_timeout = 3s;
  Restart();
  Warm({"true"});
  const int cold = ColdStarts([&] {
    const nlohmann::json result =
        Warm(Bash(std::string("echo before2 >&2; ") + testing_support::kStubbornCommand));
    EXPECT_EQ(result["stdout"], "before\n");
    EXPECT_EQ(result["stderr"], "before2\n");
    EXPECT_EQ(result["error"], "timed out after 3s; its processes have been ended");
    EXPECT_FALSE(result.contains("exit_code"));
  });
  EXPECT_EQ(cold, 1) << "the question whether the process group is gone";
  EXPECT_TRUE(EndsSoon("main"));
  EXPECT_TRUE(EndsSoon("child"));
}

TEST_F(WarmShells, EndACancelledCommand) {
  Warm({"true"});
  support::StopSource source;
  std::thread stopper([&] {
    Eventually([&] { return std::filesystem::exists(work_ + "/ready"); }, 20s);
    source.Stop(support::StopReason::kCancelled);
  });
  EXPECT_THROW(Warm(Bash(testing_support::kStubbornCommand), source.context()), support::Stopped);
  stopper.join();
  EXPECT_TRUE(EndsSoon("main"));
  EXPECT_TRUE(EndsSoon("child"));
}

TEST_F(WarmShells, LeaveNothingBehindWhenTheLineBreaksUnderACommand) {
  options_.progress_interval = 20ms;
  Restart();
  Warm({"true"});
  std::thread breaker([&] {
    // sshd, when it dies, takes along what it has not yet sent.
    Eventually([&] { return progress_.last() == "before"; }, 20s);
    for (const pid_t pid : instance_->SessionPids()) kill(pid, SIGKILL);
  });
  const int cold = ColdStarts([&] {
    const nlohmann::json result =
        Warm(Bash(std::string("echo x >>runs; ") + testing_support::kStubbornCommand));
    EXPECT_THAT(result["error"], HasSubstr("may have run"));
    EXPECT_EQ(result["stdout"], "before\n");
  });
  breaker.join();
  EXPECT_EQ(cold, 0) << "it must not be repeated";
  EXPECT_TRUE(EndsSoon("main"));
  EXPECT_TRUE(EndsSoon("child"));
  EXPECT_EQ(std::filesystem::file_size(work_ + "/runs"), 2U);
}

TEST_F(WarmShells, EndWhileTheyWaitWhenTheLineBreaks) {
  WriteProfile("echo $$ >" + work_ + "/waiting");
  Warm({"true"});
  Warm(Bash("rm waiting"));
  ASSERT_TRUE(Eventually([&] { return FileSize(work_ + "/waiting") > 0; }, 20s));
  for (const pid_t pid : instance_->SessionPids()) kill(pid, SIGKILL);
  EXPECT_TRUE(EndsSoon("waiting"));
}

TEST_F(WarmShells, EndWhenTheyAreNotNeededAnyMore) {
  WriteProfile("echo $$ >" + work_ + "/waiting");
  Warm({"true"});
  Warm(Bash("rm waiting"));
  ASSERT_TRUE(Eventually([&] { return FileSize(work_ + "/waiting") > 0; }, 20s));
  warm_.reset();
  EXPECT_TRUE(EndsSoon("waiting"));
}

TEST_F(WarmShells, AreReplacedByAColdStartWhenTheyDie) {
  WriteProfile("echo $$ >" + work_ + "/waiting");
  Warm({"true"});
  Warm(Bash("rm waiting"));
  ASSERT_TRUE(Eventually([&] { return FileSize(work_ + "/waiting") > 0; }, 20s));
  pid_t waiting = 0;
  std::ifstream(work_ + "/waiting") >> waiting;
  kill(waiting, SIGKILL);
  EXPECT_TRUE(EndsSoon("waiting"));
  const nlohmann::json first = Warm({"echo", "x"});
  // sshd may not have told of the death yet: then it was this command's login shell that was
  // killed.
  if (first["stdout"] != "x\n") {
    EXPECT_EQ(first["error"], "signal: KILL");
  }
  EXPECT_EQ(Warm({"echo", "x"})["stdout"], "x\n");
}

TEST_F(WarmShells, GiveWayWhereChannelsAreFew) {
  for (const char* sessions : {"MaxSessions 1", "MaxSessions 2"}) {
    SCOPED_TRACE(sessions);
    Start({sessions});
    const auto deadline = support::Context().WithTimeout(60s);
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(Warm({"echo", "x"}, deadline)["stdout"], "x\n");
      EXPECT_EQ(guest_->Stat("/", deadline).type, guest::FileType::kDirectory);
      EXPECT_EQ(Cold({"echo", "y"})["stdout"], "y\n");
    }
  }
}

TEST_F(WarmShells, GiveWayToAsManyCommandsAsThereAreChannels) {
  Warm({"true"});
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 30; ++i) {
    threads.emplace_back([&] {
      if (Warm({"echo", "x"})["stdout"] == "x\n") ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 30);
}

}  // namespace
}  // namespace warm_shells
