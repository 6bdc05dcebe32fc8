#include "tools/run_shell_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/errors.h"
#include "testing/local_guest.h"
#include "testing/no_more_threads.h"
#include "testing/recorded_progress.h"
#include "testing/silent_progress.h"
#include "tools/command_runner.h"
#include "tools/warm_shells.h"
#include "unit/tools/search_tool_fixture.h"

namespace tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class RunShellCommandTool : public SearchToolFixture {
 protected:
  Workspace Acquire(const support::Context& context, mcp::ProgressReporter& progress) override {
    Workspace workspace = SearchToolFixture::Acquire(context, progress);
    workspace.shell = "/bin/sh";
    return workspace;
  }

  static nlohmann::json Arguments(const std::vector<std::string>& command,
                                  const std::string& directory = kHost) {
    return {{"command", command}, {"directory", directory}};
  }

  RunShellCommand tool_{*this, {}};
};

TEST_F(RunShellCommandTool, RunsInTheGuestsDirectory) {
  const auto structured = Call(tool_, Arguments({"pwd"})).structured;
  EXPECT_TRUE(
      std::filesystem::equivalent(structured["stdout"].get<std::string>().substr(
                                      0, structured["stdout"].get<std::string>().find('\n')),
                                  Path("")));
  EXPECT_EQ(structured["exit_code"], 0);
}

TEST_F(RunShellCommandTool, SetsLeadingAssignmentsInTheEnvironment) {
  const auto structured =
      Call(tool_, Arguments({"A=1 2", "B=$x", "sh", "-c", "echo \"$A|$B\""})).structured;
  EXPECT_EQ(structured["stdout"], "1 2|$x\n");
}

TEST_F(RunShellCommandTool, RefusesAnEmptyCommandList) {
  EXPECT_THAT(ErrorOf(tool_, Arguments({})), HasSubstr("command is an empty list"));
}

TEST_F(RunShellCommandTool, RefusesAnArgumentWithNul) {
  EXPECT_THAT(ErrorOf(tool_, Arguments({"echo", std::string("a\0b", 3)})),
              HasSubstr("command[1] holds a NUL"));
}

TEST_F(RunShellCommandTool, RefusesADirectoryOutsideTheRoots) {
  EXPECT_THAT(ErrorOf(tool_, Arguments({"true"}, "/elsewhere")), HasSubstr("/elsewhere"));
  EXPECT_THAT(ErrorOf(tool_, Arguments({"true"}, "src")), HasSubstr("expected an absolute path"));
  EXPECT_EQ(guest_.count(testing_support::Operation::kRun), 0);
}

TEST_F(RunShellCommandTool, RunsACommandAlsoWhereThereIsNoThreadForItsProgress) {
  const testing_support::NoMoreThreads none;
  if (!none.imposed()) GTEST_SKIP() << "this system's threads cannot be limited";
  testing_support::RecordedProgress progress;
  const nlohmann::json arguments = Arguments({"echo", "text"});
  const mcp::ToolResult result =
      tool_.Call({.arguments = arguments, .context = {}, .progress = progress});
  EXPECT_EQ(result.structured.at("stdout"), "text\n");
}

/// Runs commands, and says of their ends what a test wants, after a login profile's greeting.
class GuestThatTellsEnds final : public testing_support::LocalGuest {
 public:
  guest::CommandResult Run(const guest::Command& command, guest::OutputSink& sink,
                           const support::Context& context) override {
    const bool asks_for_group = command.turn == guest::Turn::kFirst;
    if (asks_for_group) {
      const bool goes_on = sink.OnOutput(guest::OutputStream::kStandardOutput, "Welcome\n");
      return goes_on ? group_end() : guest::CommandResult();
    }
    if (starts) LocalGuest::Run(command, sink, context);
    return command_end();
  }

  bool starts = true;
  std::function<guest::CommandResult()> command_end;
  std::function<guest::CommandResult()> group_end;
};

class EndOfACommand : public ::testing::Test {
 protected:
  nlohmann::json Run() {
    CommandRunner::Options options;
    options.warm_shells = false;
    CommandRunner runner(options);
    CommandRequest request;
    request.words = {"echo", "text"};
    request.directory = "/";
    request.shell = "/bin/sh";
    testing_support::SilentProgress progress;
    return runner.Run(guest_, request, {}, progress).structured;
  }

  template <int status>
  static guest::CommandResult Exit() {
    guest::CommandResult result;
    result.exit_status = status;
    return result;
  }
  static guest::CommandResult Stop() { throw support::Stopped(support::StopReason::kDeadline); }

  GuestThatTellsEnds guest_;
};

TEST_F(EndOfACommand, ThatTheGuestDoesNotTellIsAnErrorWithoutAnExitCode) {
  guest_.command_end = [] { return guest::CommandResult(); };
  const nlohmann::json result = Run();
  EXPECT_EQ(result.at("error"), "the guest did not say how the command ended");
  EXPECT_FALSE(result.contains("exit_code"));
  EXPECT_EQ(result.at("stdout"), "text\n");
}

TEST_F(EndOfACommand, OfAStoppedOneIsToldWhateverALoginProfilePrintsBeforeTheGuestsAnswer) {
  guest_.command_end = Stop;
  guest_.group_end = Exit<0>;
  EXPECT_THAT(Run().at("error").get<std::string>(), HasSubstr("its processes have been ended"));
}

TEST_F(EndOfACommand, OfAStoppedOneIsNotClaimedWhereItsGroupHadToBeKilledOnceMore) {
  guest_.command_end = Stop;
  guest_.group_end = Exit<1>;
  const nlohmann::json result = Run();
  EXPECT_THAT(result.at("error").get<std::string>(),
              HasSubstr("had to be killed once more; check that it is gone"));
  EXPECT_EQ(result.at("stdout"), "text\n");
}

TEST_F(EndOfACommand, OfAStoppedOneIsNotClaimedWhereTheGuestCannotBeAsked) {
  guest_.command_end = Stop;
  guest_.group_end = []() -> guest::CommandResult {
    throw support::ConnectionLost("the line is gone", false);
  };
  EXPECT_THAT(Run().at("error").get<std::string>(),
              AllOf(HasSubstr("the guest could not be asked whether its process group"),
                    HasSubstr("(the line is gone)")));
}

TEST_F(EndOfACommand, OfAStoppedOneOfWhichNothingWasHeardIsNotClaimedNorThatItNeverBegan) {
  guest_.starts = false;
  guest_.command_end = Stop;
  EXPECT_THAT(Run().at("error").get<std::string>(),
              HasSubstr("the guest had not said that the command runs; if it was started"));
}

TEST(WarmShells, AShellThatCannotBeStartedAheadDoesNoHarm) {
  class GuestThatRefuses final : public testing_support::LocalGuest {
   public:
    std::unique_ptr<guest::WaitingCommand> StartWaiting(
        guest::Command /*command*/, std::shared_ptr<guest::OutputSink> /*sink*/) override {
      ++asked;
      throw support::CallError("the command line is too long");
    }
    int asked = 0;
  };
  GuestThatRefuses guest;
  WarmShells shells(WarmShells::Options{});
  for (int command = 1; command <= 2; ++command) {
    { const WarmShells::Use use(shells, {&guest, "/", "/bin/bash"}); }
    EXPECT_EQ(guest.asked, command);
  }
}

TEST(WarmShells, AShellThatAStoppedCallDidNotWaitForHasNotFailed) {
  class SilentShell final : public guest::WaitingCommand {
   public:
    [[nodiscard]] bool waiting() const override { return true; }
    guest::CommandResult Finish(const std::string&, const support::Context&) override { return {}; }
  };
  class GuestWithSilentShells final : public testing_support::LocalGuest {
   public:
    std::unique_ptr<guest::WaitingCommand> StartWaiting(
        guest::Command /*command*/, std::shared_ptr<guest::OutputSink> /*sink*/) override {
      ++asked;
      return std::make_unique<SilentShell>();
    }
    int asked = 0;
  };
  GuestWithSilentShells guest;
  WarmShells shells(WarmShells::Options{});
  support::StopSource source;
  source.Stop(support::StopReason::kCancelled);
  for (int command = 1; command <= WarmShells::kMostFailures + 2; ++command) {
    {
      WarmShells::Use use(shells, {&guest, "/", "/bin/bash"});
      EXPECT_EQ(use.Take(source.context()), nullptr);
    }
    EXPECT_EQ(guest.asked, command);
  }
}

}  // namespace
}  // namespace tools
