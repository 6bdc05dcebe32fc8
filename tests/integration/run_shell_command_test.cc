// CommandRunner over ssh::Connection against a real sshd: how commands end, what is left of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "integration/loopback_guest.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "testing/collected_output.h"
#include "testing/eventually.h"
#include "testing/guest_processes.h"
#include "testing/recorded_process.h"
#include "testing/recorded_progress.h"
#include "testing/stubborn_command.h"
#include "tools/command_runner.h"

namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing_support::CollectedOutput;
using testing_support::Eventually;
using testing_support::kStubbornCommand;

class RunShellCommand : public integration::LoopbackGuest {
 protected:
  void SetUp() override { Start({}); }

  void Start(std::vector<std::string> sshd_options) {
    guest_.reset();
    StartInstance(std::move(sshd_options));
    guest_ = Connect();
  }

  nlohmann::json Run(std::vector<std::string> words, const support::Context& context = {}) {
    tools::CommandRunner runner(options_);
    return runner
        .Run(*guest_, {std::move(words), directory_.path(), "/bin/bash"}, context, progress_)
        .structured;
  }
  nlohmann::json Bash(const std::string& script, const support::Context& context = {}) {
    return Run({"bash", "-c", script}, context);
  }

  /// The line that `limactl shell` sends, on a channel of its own.
  CollectedOutput RunPlainly(const std::vector<std::string>& words) {
    const auto recorded = std::make_shared<testing_support::RecordedProcess>();
    const auto process = guest_->Start("cd " + shell::ShellQuote(directory_.path().string()) +
                                           " || exit 1 ; exec /bin/bash -l -c " +
                                           shell::ShellQuote(shell::ShellCommand(words)),
                                       recorded);
    process->EndInput();
    recorded->End();
    return recorded->collected();
  }

  void WaitForFile(const std::string& name) const {
    ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(Path(name)); }, 20s))
        << name << " never came";
  }

  [[nodiscard]] bool EndsSoon(const std::string& file) const {
    return testing_support::EndsSoon(Path(file));
  }

  void WaitForProgress(const std::string& message) {
    ASSERT_TRUE(Eventually([&] { return progress_.last() == message; }, 20s))
        << message << " never came";
  }

  std::shared_ptr<ssh::Connection> guest_;
  tools::CommandRunner::Options options_;
  testing_support::RecordedProgress progress_;
};

TEST_F(RunShellCommand, PrintsTheArgumentsOfAllProcessesToTheEnd) {
  const nlohmann::json result = Bash("ps -A -ww -o args=; echo; echo the end");
  EXPECT_THAT(result["stdout"].get<std::string>(), ::testing::EndsWith("the end\n"));
}

TEST_F(RunShellCommand, KeepsOutputAndErrorApartAndTellsTheStatus) {
  const nlohmann::json expected = {
      {"stdout", "out\n"}, {"stderr", "err\n"}, {"exit_code", 3}, {"error", "exit status 3"}};
  EXPECT_EQ(Bash("echo out; echo err >&2; exit 3"), expected);
}

TEST_F(RunShellCommand, SaysNothingOfAnErrorWhereThereIsNone) {
  const nlohmann::json expected = {{"stdout", ""}, {"stderr", ""}, {"exit_code", 0}};
  EXPECT_EQ(Run({"true"}), expected);
}

TEST_F(RunShellCommand, GivesTheEnvironmentOfLimactlShell) {
  // SSH_CLIENT and SSH_CONNECTION are the same: one connection. resident_script.h names what is
  // not.
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"bash", "-c", "env | grep -v SHLVL | sort"},
#ifdef __APPLE__  // bash 3.2 keeps no order
           {"A=1 2", "B=$x", "sh", "-c", "env | grep -v SHLVL | sort"},
#else
           {"A=1 2", "B=$x", "env", "-u", "SHLVL"},
#endif
           {"bash", "-c", "pwd; echo $OLDPWD; umask; ulimit -a"},
           {"bash", "-c", "trap; echo $-; set -o"},
           // Of grep itself: dash blocks every signal of its own while it starts another program.
           {"sh", "-c", "exec grep -E '^Sig(Ign|Blk|Cgt)' /proc/self/status"},
           {"cat"},
           {"time", "true"},
           {""},
           {"printf", "%s|", "a b", "", "it's", "$(id)", "\n"}}) {
    const CollectedOutput plain = RunPlainly(words);
    const nlohmann::json ours = Run(words);
    const bool tells_times = words[0] == "time";
    EXPECT_EQ(tells_times ? plain.error : ours["stderr"].get<std::string>(), plain.error);
    EXPECT_EQ(ours["stdout"], plain.output) << words[0];
  }
}

TEST_F(RunShellCommand, TellsTheSignalThatEndedACommand) {
  const nlohmann::json killed = Bash("echo out; kill -KILL $$");
  EXPECT_EQ(killed["exit_code"], 137);
  EXPECT_EQ(killed["error"], "signal: KILL");
  EXPECT_EQ(killed["stdout"], "out\n");
  EXPECT_EQ(killed["stderr"], "");
  EXPECT_EQ(Bash("kill -SEGV $$")["exit_code"], 139);
}

TEST_F(RunShellCommand, ExplainsAShellLineGivenAsOneWord) {
  const nlohmann::json result = Run({"echo \"a\" | wc"});
  EXPECT_EQ(result["exit_code"], 127);
  EXPECT_THAT(result["error"], HasSubstr(R"(["bash","-c","echo \"a\" | wc"])"));
  EXPECT_EQ(Run({"nosuchcommand"})["error"], "exit status 127");
}

TEST_F(RunShellCommand, FailsAsLimactlShellDoesWhereTheDirectoryIsMissing) {
  tools::CommandRunner runner(options_);
  const nlohmann::json result =
      runner.Run(*guest_, {{"true"}, Path("missing"), ""}, {}, progress_).structured;
  EXPECT_EQ(result["exit_code"], 1);
  EXPECT_THAT(result["stderr"], HasSubstr("No such file or directory"));
}

TEST_F(RunShellCommand, RefusesACommandLongerThanTheGuestTakes) {
  const std::size_t longest = std::size_t{128} * 1024 - 1 - std::string("echo ").size();
  EXPECT_EQ(Run({"echo", std::string(longest, 'x')})["exit_code"], 0);
  try {
    Run({"echo", std::string(longest + 1, 'x')});
    FAIL() << "accepted";
  } catch (const support::CallError& error) {
    EXPECT_THAT(error.what(), StartsWith("argument list too long"));
  }
}

TEST_F(RunShellCommand, MakesValidTextOfAnyBytes) {
  const nlohmann::json result = Bash(R"(printf 'a\000b\033[2J\377\342\200\256')");
  EXPECT_EQ(result["stdout"], std::string("a\0b\x1b[2J\xEF\xBF\xBD\xE2\x80\xAE", 13));
  EXPECT_NO_THROW(static_cast<void>(result.dump()));
}

TEST_F(RunShellCommand, CapsAFlood) {
  options_.maximum_output_bytes = 4096;
  const nlohmann::json result =
      Bash("seq -f %.0f 2000000; head -c 20000000 /dev/zero | tr '\\0' x >&2");
  const auto output = result["stdout"].get<std::string>();
  EXPECT_THAT(output, StartsWith("1\n2\n"));
  EXPECT_TRUE(output.ends_with("\n1999999\n2000000\n"));
  EXPECT_THAT(output, HasSubstr(" bytes left out"));
  EXPECT_LT(output.size(), 4200U);
  EXPECT_LT(result["stderr"].get<std::string>().size(), 4200U);
}

TEST_F(RunShellCommand, ReturnsWhenTheMainProcessEndsAndLetsItsChildLive) {
  const nlohmann::json result =
      Bash("mkfifo go; (read -r x <go; seq 100000 && seq 100000 >&2 && touch done) & echo started");
  EXPECT_EQ(result["stdout"], "started\n");
  Run({"sleep", "2.5"});  // longer than the channel is watched (ProcessRun::kExitGrace)
  Run({"true"});
  std::ofstream(Path("go")) << "go\n";
  WaitForFile("done");
}

TEST_F(RunShellCommand, GivesTheChannelsOfBackgroundChildrenBack) {
  Start({"MaxSessions 2"});
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(Bash("(sleep 30; echo late) & echo " + std::to_string(i))["exit_code"], 0);
  }
}

TEST_F(RunShellCommand, EndsWhatTakesTooLongAndKeepsItsOutput) {
  options_.command_timeout = 3s;
  const nlohmann::json result = Bash(std::string("echo before2 >&2; ") + kStubbornCommand);
  EXPECT_EQ(result["stdout"], "before\n");
  EXPECT_THAT(result["stderr"], StartsWith("before2\n"));  // bash may name what was killed
  EXPECT_EQ(result["error"], "timed out after 3s; its processes have been ended");
  EXPECT_FALSE(result.contains("exit_code"));
  EXPECT_TRUE(EndsSoon("main"));
  EXPECT_TRUE(EndsSoon("child"));
}

TEST_F(RunShellCommand, EndsACancelledCommandBeforeItThrows) {
  support::StopSource source;
  std::thread stopper([&] {
    WaitForFile("ready");
    source.Stop(support::StopReason::kCancelled);
  });
  EXPECT_THROW(Bash(kStubbornCommand, source.context()), support::Stopped);
  stopper.join();
  EXPECT_TRUE(EndsSoon("main"));
  EXPECT_TRUE(EndsSoon("child"));
}

TEST_F(RunShellCommand, AnswersWhenTheInputOfTheServerEnds) {
  support::StopSource source;
  std::thread stopper([&] {
    WaitForFile("ready");
    source.Stop(support::StopReason::kEndOfInput);
  });
  const nlohmann::json result = Bash(kStubbornCommand, source.context());
  stopper.join();
  EXPECT_EQ(result["stdout"], "before\n");
  EXPECT_THAT(result["error"], HasSubstr("its processes have been ended"));
}

TEST_F(RunShellCommand, LeavesNothingBehindWhenTheLineBreaks) {
  options_.progress_interval = 20ms;
  std::thread breaker([&] {
    WaitForProgress("before");  // sshd, when it dies, takes along what it has not yet sent
    for (const pid_t pid : instance_->SessionPids()) kill(pid, SIGKILL);
  });
  const nlohmann::json result = Bash(kStubbornCommand);
  breaker.join();
  EXPECT_EQ(result["stdout"], "before\n");
  EXPECT_THAT(result["error"], HasSubstr("may have run"));
  EXPECT_TRUE(EndsSoon("main"));
  EXPECT_TRUE(EndsSoon("child"));
}

TEST_F(RunShellCommand, NoOutputForAnHourIsNoReasonToGiveUp) {
  // An hour holds 240 of the real intervals between keep-alives.
  ssh::ConnectionOptions options;
  options.keepalive_interval = 10ms;
  options.keepalive_limit = 1000;  // a busy machine may answer late
  guest_ = Connect(options);
  options_.progress_interval = 20ms;
  EXPECT_EQ(Bash("sleep 2.4; echo late")["stdout"], "late\n");
  EXPECT_THAT(progress_.messages(), ::testing::Contains("running, no output yet"));
}

TEST_F(RunShellCommand, ReportsProgressWithTheLastLineAndWithoutOutput) {
  options_.progress_interval = 20ms;
  std::thread answer([&] {
    WaitForProgress("last");
    std::ofstream(Path("go")) << "go\n";
  });
  EXPECT_EQ(Bash("mkfifo go; echo first; echo last; read -r x <go")["exit_code"], 0);
  answer.join();
}

TEST_F(RunShellCommand, ProgressCannotDriveATerminal) {
  options_.progress_interval = 20ms;
  std::thread answer([&] {
    WaitForProgress("last [2J \\xc2\\x9b");
    std::ofstream(Path("go")) << "go\n";
  });
  EXPECT_EQ(Bash(R"(mkfifo go; printf 'last\033[2J\t\302\233\n'; read -r x <go)")["exit_code"], 0);
  answer.join();
}

}  // namespace
