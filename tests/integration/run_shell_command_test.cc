// Commands over ssh::Connect and a real sshd: what `limactl shell` gives them, and progress.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "integration/loopback_guest.h"
#include "shell/shell_quote.h"
#include "testing/collected_output.h"
#include "testing/eventually.h"
#include "testing/recorded_process.h"
#include "testing/recorded_progress.h"
#include "unit/tools/tool_named.h"

namespace {

using namespace std::chrono_literals;
using testing_support::CollectedOutput;

class RunShellCommand : public integration::LoopbackGuest, public tools::WorkspaceSource {
 protected:
  void SetUp() override {
    StartInstance({});
    guest_ = Connect();
    paths::PathRules::Options rules;
    rules.roots = {{directory_.path(), directory_.path(), true, {}}};
    rules.instance = "default";
    paths_ = std::make_shared<const paths::PathRules>(std::move(rules));
  }

  tools::Workspace Acquire(const support::Context&, mcp::ProgressReporter&) override {
    return {guest_, paths_, "/bin/bash"};
  }

  nlohmann::json Run(const std::vector<std::string>& words) {
    const nlohmann::json arguments = {{"command", words},
                                      {"directory", directory_.path().string()}};
    return tools::Structured(tools::ToolNamed("run_shell_command", *this)
                                 .call({arguments, support::Context(), progress_}));
  }
  nlohmann::json Bash(const std::string& script) { return Run({"bash", "-c", script}); }

  /// Sends the line that `limactl shell` sends, on a channel of its own.
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

  void WaitForProgress(const std::string& message) {
    ASSERT_TRUE(testing_support::Eventually([&] { return progress_.last() == message; }, 20s))
        << message << " never came";
  }

  std::shared_ptr<guest::Guest> guest_;
  std::shared_ptr<const paths::PathRules> paths_;
  testing_support::RecordedProgress progress_;
};

TEST_F(RunShellCommand, PrintsTheArgumentsOfAllProcesses) {
  const nlohmann::json result = Bash("ps -A -ww -o args=; echo; echo the end");
  EXPECT_THAT(result["stdout"].get<std::string>(), ::testing::EndsWith("the end\n"));
}

TEST_F(RunShellCommand, ProvidesTheEnvironmentOfLimactlShell) {
  // resident_script.h lists what differs.
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"bash", "-c", "env | grep -v SHLVL | sort"},
#ifdef __APPLE__  // bash 3.2 keeps no order
           {"A=1 2", "B=$x", "sh", "-c", "env | grep -v SHLVL | sort"},
#else
           {"A=1 2", "B=$x", "env", "-u", "SHLVL"},
#endif
           {"bash", "-c", "pwd; echo $OLDPWD; umask; ulimit -a"},
           {"bash", "-c", "trap; echo $-; set -o"},
           // grep itself, as dash blocks its own signals while it starts a program.
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

TEST_F(RunShellCommand, ReturnsWhenTheMainProcessExitsAndKeepsItsChild) {
  const nlohmann::json result =
      Bash("mkfifo go; (read -r x <go; seq 100000 && seq 100000 >&2 && touch done) & echo started");
  EXPECT_EQ(result["stdout"], "started\n");
  Run({"sleep", "2.5"});  // longer than ProcessRun::kExitGrace
  Run({"true"});
  std::ofstream(Path("go")) << "go\n";
  EXPECT_TRUE(
      testing_support::Eventually([&] { return std::filesystem::exists(Path("done")); }, 20s));
}

TEST_F(RunShellCommand, WaitsThroughAnHourWithoutOutput) {
  // As many keep-alives as in an hour at the real interval.
  ssh::ConnectionOptions options;
  options.keepalive_interval = 10ms;
  options.keepalive_limit = 1000;  // a busy machine may answer late
  guest_ = Connect(options);
  EXPECT_EQ(Bash("sleep 2.4; echo late")["stdout"], "late\n");
  EXPECT_THAT(progress_.messages(), ::testing::Contains("running, no output yet"));
}

TEST_F(RunShellCommand, ReportsTheLastLineAsProgress) {
  std::thread answer([&] {
    WaitForProgress("last");
    std::ofstream(Path("go")) << "go\n";
  });
  EXPECT_EQ(Bash("mkfifo go; echo first; echo last; read -r x <go")["exit_code"], 0);
  answer.join();
}

TEST_F(RunShellCommand, ProgressCannotDriveATerminal) {
  std::thread answer([&] {
    WaitForProgress("last [2J \\xc2\\x9b");
    std::ofstream(Path("go")) << "go\n";
  });
  EXPECT_EQ(Bash(R"(mkfifo go; printf 'last\033[2J\t\302\233\n'; read -r x <go)")["exit_code"], 0);
  answer.join();
}

}  // namespace
