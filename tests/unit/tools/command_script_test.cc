// The script of a command, run by the shells that a guest user may have, on this machine. What the
// command sees is compared with the line that `limactl shell` sends.

#include "tools/command_script.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

#include "support/context.h"
#include "testing/collected_output.h"
#include "testing/eventually.h"
#include "testing/local_guest.h"
#include "testing/temporary_directory.h"
#include "tools/any_shell.h"
#include "tools/command_output.h"
#include "tools/mark.h"
#include "tools/shell_quote.h"

namespace tools {
namespace {

using namespace std::chrono_literals;

struct Case {
  const char* name;
  const char* shell;          ///< runs the line, as sshd lets the login shell
  const char* process_files;  ///< a path that does not exist makes the relays named pipes
};

void PrintTo(const Case& test_case, std::ostream* out) {
  *out << test_case.name;
}

struct Ended {
  guest::CommandResult result;
  std::string output;
  std::string error;
  std::optional<long> process_group;
};

class CommandScript : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const std::string shell = GetParam().shell;
    if (std::system((shell + " -c : >/dev/null 2>&1").c_str()) != 0) {
      GTEST_SKIP() << "there is no " << shell << " here";
    }
    // The real user's profile may print, and may do so only now and then.
    ASSERT_EQ(::setenv("HOME", home_.path().c_str(), 1), 0);
  }

  CommandScriptOptions Options(const std::string& command) const {
    CommandScriptOptions options;
    options.directory = directory_.path();
    options.shell = "/bin/bash";
    options.command = command;
    options.mark = MakeMark();
    options.process_files = GetParam().process_files;
    return options;
  }

  /// As the login shell: LocalGuest's /bin/sh becomes it.
  static guest::Command Through(guest::Command command) {
    command.command_line =
        "exec " + std::string(GetParam().shell) + " -c " + ShellQuote(command.command_line);
    return command;
  }

  Ended Run(const CommandScriptOptions& options, const support::Context& context = {}) {
    CommandOutput output(options.mark, 1 << 20);
    Ended ended;
    ended.result = guest_.Run(Through(MakeCommandScript(options)), output, context);
    output.Finish();
    ended.output = output.StandardOutput();
    ended.error = output.StandardError();
    ended.process_group = output.process_group();
    return ended;
  }
  Ended Run(const std::string& command) { return Run(Options(command)); }

  /// The line of limactl shell, with nothing around it.
  Ended RunPlainly(const std::string& command) {
    guest::Command line;
    line.command_line = "cd " + ShellQuote(directory_.path().string()) +
                        " || exit 1 ; exec /bin/bash -l -c " + ShellQuote(command) + " </dev/null";
    testing_support::CollectedOutput collected;
    Ended ended;
    ended.result = guest_.Run(Through(line), collected, {});
    ended.output = collected.output;
    ended.error = collected.error;
    return ended;
  }

  bool GroupHasEnded(long process_group) {
    guest::Command command;
    command.command_line = GroupEndScript(process_group);
    testing_support::CollectedOutput ignored;
    return guest_.Run(command, ignored, {}).exit_status == 0;
  }

  void WaitForFile(const std::string& name) const {
    ASSERT_TRUE(testing_support::Eventually(
        [&] { return std::filesystem::exists(directory_.path() / name); }, 20s))
        << name << " never came";
  }

  testing_support::TemporaryDirectory home_;
  testing_support::TemporaryDirectory directory_;
  testing_support::LocalGuest guest_;
};

TEST_P(CommandScript, GivesTheCommandWhatLimactlShellGivesIt) {
  for (const char* command : {
           "env | grep -Ev '^(_|OLDPWD)=' | sort",
           "pwd",
           "umask; ulimit -a",
           "trap; set -o; shopt",
           "echo \"$0 $# $- $SHLVL\"",
           "grep -E '^Sig(Ign|Blk|Cgt)' /proc/self/status",
           "sh -c 'ls -l /proc/self/fd' | awk '{print $9}' | sort",
           "cat; read -r x; echo $?",
           "test -t 0 || test -t 1 || test -t 2 || echo no terminal",
           "ps -o stat= -p $$ | cut -c1-2; test $(ps -o pgid= -p $$) = $$ && echo leader",
           "echo out; echo err >&2; exit 3",
           "jobs; wait; echo $?",
           "ps -o pid= --ppid $$ | wc -l",
           "nosuchcommand",
           "if",
       }) {
    const Ended ours = Run(command);
    const Ended plain = RunPlainly(command);
    EXPECT_EQ(ours.output, plain.output) << command;
    EXPECT_EQ(ours.error, plain.error) << command;
    EXPECT_EQ(ours.result.exit_status, plain.result.exit_status) << command;
    EXPECT_TRUE(ours.process_group) << command;
  }
}

TEST_P(CommandScript, LeavesTheOldDirectoryWhereTheLoginShellSetsIt) {
  const std::string shell = GetParam().shell;
  if (shell == "fish" || shell == "tcsh") GTEST_SKIP() << "fish and csh know no $OLDPWD";
  EXPECT_EQ(Run("echo $OLDPWD").output, RunPlainly("echo $OLDPWD").output);
}

TEST_P(CommandScript, SaysThatTheShellIsMissing) {
  CommandScriptOptions options = Options("true");
  options.shell = "/no/such/shell";
  CommandOutput output(options.mark, 1 << 20);
#ifdef __APPLE__  // bash 3.2
  constexpr int kMissing = 126;
#else
  constexpr int kMissing = 127;
#endif
  EXPECT_EQ(guest_.Run(Through(MakeCommandScript(options)), output, {}).exit_status, kMissing);
  EXPECT_TRUE(output.shell_missing());
}

TEST_P(CommandScript, TellsAnExitStatusFromASignal) {
  EXPECT_EQ(Run("exit 137").result.exit_status, 137);
  const Ended killed = Run("echo out; kill -9 $$");
  EXPECT_EQ(killed.result.exit_signal, "KILL");
  EXPECT_EQ(killed.output, "out\n");
  EXPECT_EQ(killed.error, "");
  EXPECT_EQ(Run("kill -INT $$").result.exit_signal, "INT");
  EXPECT_EQ(Run("kill -PIPE $$").result.exit_signal, "PIPE");
}

TEST_P(CommandScript, KeepsTheOutputOfACommandThatKillsItsOwnGroup) {
  const Ended ended = Run("echo out; echo err >&2; kill -TERM 0");
  EXPECT_EQ(ended.result.exit_signal, "TERM");
  EXPECT_EQ(ended.output, "out\n");
  EXPECT_EQ(ended.error, "err\n");
}

TEST_P(CommandScript, ReportsAMissingDirectory) {
  CommandScriptOptions options = Options("echo never");
  options.directory = directory_.path() / "it's gone";
  const Ended ended = Run(options);
  EXPECT_EQ(ended.result.exit_status, 1);
  EXPECT_EQ(ended.output, "");
  EXPECT_NE(ended.error.find("it's gone"), std::string::npos) << ended.error;
}

TEST_P(CommandScript, CarriesEveryByteOfAnArgument) {
  std::string bytes;
  for (int value = 1; value < 256; ++value) bytes += static_cast<char>(value);
  const std::string path = directory_.path() / "bytes";
  Run(ShellCommand({"sh", "-c", "printf %s \"$1\" >\"$2\"", "sh", bytes, path}));
  std::ifstream file(path, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), bytes);
}

TEST_P(CommandScript, SendsALongCommandThroughStandardInput) {
  // Each quote grows when it is quoted again, to more than a command line holds.
  const std::string command = "word=" + ShellQuote(std::string(20'000, '\'')) +
                              "\nprintf '%s\\n' ${#word}; wc -c | tr -d ' '; echo end # \n\n";
  ASSERT_FALSE(MakeCommandScript(Options(command)).standard_input.empty());
  const Ended ended = Run(command);
  EXPECT_EQ(ended.output, "20000\n0\nend\n");
  EXPECT_EQ(ended.error, "");
}

TEST_P(CommandScript, CarriesEveryByteOfALongCommand) {
  std::string bytes;
  while (bytes.size() < 30'000) {
    for (int value = 1; value < 256; ++value) bytes += static_cast<char>(value);
    bytes += std::string(200, '\'');
  }
  const std::string path = directory_.path() / "bytes";
  const std::string command =
      ShellCommand({"sh", "-c", "printf %s \"$1\" >\"$2\"", "sh", bytes, path});
  ASSERT_FALSE(MakeCommandScript(Options(command)).standard_input.empty());
  ASSERT_LE(command.size(), kMaximumShellCommand);
  Run(command);
  std::ifstream file(path, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), bytes);
}

TEST_P(CommandScript, AcceptsTheLongestCommand) {
  std::string command = "echo ";
  command += std::string(kMaximumShellCommand - command.size(), 'x');
  EXPECT_EQ(Run(command).output.size(), kMaximumShellCommand - 4);
}

TEST_P(CommandScript, ReturnsWhenTheMainProcessEndsAndLetsItsChildLive) {
  const auto begin = support::Clock::now();
  const Ended ended =
      Run("mkfifo go; (read -r x <go; echo late; echo late >&2; seq 100000 && touch done) &"
          " echo started");
  EXPECT_LT(support::Clock::now() - begin, 20s);
  EXPECT_EQ(ended.output, "started\n");
  EXPECT_EQ(ended.error, "");
  // It prints more than a pipe holds, although nobody listens.
  WaitForFile("go");
  std::ofstream(directory_.path() / "go") << "go\n";
  WaitForFile("done");
}

TEST_P(CommandScript, KeepsAllOutputOfAFloodThatEndsAtOnce) {
  const Ended ended = Run("seq 100000; seq 50000 >&2; exit 5");
  EXPECT_EQ(ended.result.exit_status, 5);
  EXPECT_TRUE(ended.output.ends_with("\n99999\n100000\n"));
  EXPECT_EQ(ended.output.size(), 588'895U);
  EXPECT_TRUE(ended.error.ends_with("\n49999\n50000\n"));
}

TEST_P(CommandScript, EndsTheWholeGroupWhenItIsStopped) {
  support::StopSource source;
  CommandScriptOptions options = Options(
      "trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & sleep 300 & touch ready; wait");
  CommandOutput output(options.mark, 1 << 20);
  std::thread stopper([&] {
    WaitForFile("ready");
    source.Stop(support::StopReason::kCancelled);
  });
  EXPECT_THROW(guest_.Run(Through(MakeCommandScript(options)), output, source.context()),
               support::Stopped);
  stopper.join();
  ASSERT_TRUE(output.process_group());
  const auto begin = support::Clock::now();
  EXPECT_TRUE(GroupHasEnded(*output.process_group()));
  EXPECT_LT(support::Clock::now() - begin, 3s);
}

TEST_P(CommandScript, LeavesNoProcessBehindWhenTheCommandEnds) {
  const CommandScriptOptions options = Options("true");
  Run(options);
  testing_support::CollectedOutput found;
  guest::Command look;
  look.command_line = "n=0; while ps -A -o args= | grep -v grep | grep -q " + options.mark +
                      "; do n=$((n + 1)); [ $n -lt 100 ] || { echo left; exit; }; sleep 0.05; done";
  guest_.Run(look, found, {});
  EXPECT_EQ(found.output, "");
}

INSTANTIATE_TEST_SUITE_P(
    Shells, CommandScript,
    ::testing::Values(Case{"bash", "bash", "/proc/self"}, Case{"dash", "dash", "/proc/self"},
                      Case{"busybox", "busybox sh", "/proc/self"}, Case{"zsh", "zsh", "/proc/self"},
                      Case{"fish", "fish", "/proc/self"}, Case{"csh", "tcsh", "/proc/self"},
                      Case{"NamedPipes", "bash", "/nonexistent"}),
    [](const auto& shell) { return std::string(shell.param.name); });

TEST(GroupEndScript, TriesForThreeSecondsAlsoWhereSleepTakesWholeOnes) {
  const testing_support::TemporaryDirectory directory;
  // Counts the seconds instead of waiting for them.
  const std::filesystem::path seconds = directory.path() / "seconds";
  const std::filesystem::path program = directory.path() / "sleep";
  std::ofstream(program) << "#!/bin/sh\ncase $1 in *.*) exit 1 ;; esac\necho $1 >>"
                         << ShellQuote(seconds.string()) << "\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);

  const pid_t group = fork();
  ASSERT_GE(group, 0);
  if (group == 0) {
    while (true) pause();
  }
  EXPECT_EQ(setpgid(group, group), 0);
  guest::Command command;
  command.command_line = "PATH=" + ShellQuote(directory.path().string()) + ":$PATH; export PATH; " +
                         GroupEndScript(group);
  testing_support::CollectedOutput ignored;
  testing_support::LocalGuest guest;
  EXPECT_EQ(guest.Run(command, ignored, support::Context().WithTimeout(20s)).exit_status, 1);
  kill(group, SIGKILL);
  waitpid(group, nullptr, 0);

  std::ifstream counted(seconds);
  std::string line;
  int lines = 0;
  while (std::getline(counted, line)) ++lines;
  EXPECT_EQ(lines, 3);
}

TEST(MakeMark, IsNeverTheSameTwice) {
  EXPECT_NE(MakeMark(), MakeMark());
}

TEST(AnyShellLine, RefusesAScriptThatNotEveryShellReadsAlike) {
  EXPECT_NO_THROW((void)AnyShellLine("echo \\a", {}));
  for (const char* script : {"echo 'a'", "echo !", "echo\n", "echo \\\\"}) {
    EXPECT_THROW((void)AnyShellLine(script, {}), std::logic_error) << script;
  }
}

}  // namespace
}  // namespace tools
