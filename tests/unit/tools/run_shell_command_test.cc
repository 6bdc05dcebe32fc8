#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shell/shells.h"
#include "support/errors.h"
#include "testing/local_guest.h"
#include "unit/tools/search_tool_fixture.h"

namespace tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class RunShellCommandTool : public SearchToolFixture {
 protected:
  static nlohmann::json Arguments(const std::vector<std::string>& command,
                                  const std::string& directory = kHost) {
    return {{"command", command}, {"directory", directory}};
  }

  const mcp::Tool tool_ = ToolNamed("run_shell_command", *this);
};

TEST_F(RunShellCommandTool, RunsInTheGuestsDirectory) {
  const auto structured = Structured(Call(tool_, Arguments({"pwd"})));
  EXPECT_TRUE(
      std::filesystem::equivalent(structured["stdout"].get<std::string>().substr(
                                      0, structured["stdout"].get<std::string>().find('\n')),
                                  Path("")));
  EXPECT_EQ(structured["exit_code"], 0);
}

TEST_F(RunShellCommandTool, RejectsAnEmptyCommand) {
  EXPECT_THAT(ErrorOf(tool_, Arguments({})), HasSubstr("command is an empty list"));
}

TEST_F(RunShellCommandTool, RejectsAnArgumentWithNul) {
  EXPECT_THAT(ErrorOf(tool_, Arguments({"echo", std::string("a\0b", 3)})),
              HasSubstr("command[1] contains a NUL"));
}

TEST_F(RunShellCommandTool, RejectsADirectoryOutsideTheRoots) {
  EXPECT_THAT(ErrorOf(tool_, Arguments({"true"}, "/elsewhere")), HasSubstr("/elsewhere"));
  EXPECT_THAT(ErrorOf(tool_, Arguments({"true"}, "src")), HasSubstr("expected an absolute path"));
  EXPECT_EQ(guest_.count(testing_support::Operation::kRun), 0);
}

/// The guest notes how long it has for its first answer.
class DirectoryTimeLimit : public RunShellCommandTool {
 protected:
  class NotingGuest final : public testing_support::LocalGuest {
   public:
    std::optional<support::Clock::time_point> first_deadline;

    std::vector<guest::Reply> RoundTrip(const std::vector<guest::Request>& requests,
                                        const support::Context& context) override {
      if (!first_deadline) first_deadline = context.deadline();
      return LocalGuest::RoundTrip(requests, context);
    }
  };

  Workspace Acquire(const support::Context& context, mcp::ProgressReporter& progress) override {
    Workspace workspace = RunShellCommandTool::Acquire(context, progress);
    workspace.guest = noting_guest_;
    connected_at_ = support::Clock::now();
    return workspace;
  }

  std::shared_ptr<NotingGuest> noting_guest_ = std::make_shared<NotingGuest>();
  support::Clock::time_point connected_at_;
};

TEST_F(DirectoryTimeLimit, StartsWhenThereIsAConnection) {
  Call(tool_, Arguments({"true"}));
  ASSERT_TRUE(noting_guest_->first_deadline.has_value());
  EXPECT_GE(*noting_guest_->first_deadline, connected_at_ + ToolOptions().time_limit);
}

/// Reports the end of a command as a test sets it.
class EndOfACommand : public RunShellCommandTool {
 protected:
  class EndingGuest final : public testing_support::LocalGuest {
   public:
    shell::RunEnd RunCommand(const shell::LoginCommand&, shell::OutputSink& sink,
                             const support::Context&) override {
      sink.OnOutput(shell::Stream::kOutput, "text\n");
      return end();
    }
    std::function<shell::RunEnd()> end;
  };

  Workspace Acquire(const support::Context& context, mcp::ProgressReporter& progress) override {
    Workspace workspace = RunShellCommandTool::Acquire(context, progress);
    workspace.guest = ending_guest_;
    return workspace;
  }

  nlohmann::json Run(std::function<shell::RunEnd()> end) {
    ending_guest_->end = std::move(end);
    return Structured(Call(tool_, Arguments({"echo", "text"})));
  }

  static shell::RunEnd Status(std::optional<int> status) {
    shell::RunEnd end;
    end.exit_status = status;
    return end;
  }

  const std::shared_ptr<EndingGuest> ending_guest_ = std::make_shared<EndingGuest>();
};

TEST_F(EndOfACommand, NotReportedIsAnErrorWithoutAnExitCode) {
  const nlohmann::json result = Run([] { return Status(std::nullopt); });
  EXPECT_EQ(result.at("error"), "the guest did not report how the command ended");
  EXPECT_FALSE(result.contains("exit_code"));
  EXPECT_EQ(result.at("stdout"), "text\n");
}

TEST_F(EndOfACommand, BySignalIsNamed) {
  for (const auto& [status, error] :
       {std::pair(137, "signal: KILL"), std::pair(135, "signal: BUS"),
        std::pair(255, "exit status 255"), std::pair(128, "exit status 128"),
        std::pair(145, "exit status 145")}) {
    const nlohmann::json result = Run([status = status] { return Status(status); });
    EXPECT_EQ(result.at("exit_code"), status);
    EXPECT_EQ(result.at("error"), error);
  }
}

TEST_F(EndOfACommand, OfItsShellHasNoExitCode) {
  const nlohmann::json result = Run([] {
    shell::RunEnd end;
    end.exit_signal = "KILL";
    return end;
  });
  EXPECT_FALSE(result.contains("exit_code"));
  EXPECT_THAT(result.at("error").get<std::string>(),
              AllOf(HasSubstr("killed by signal KILL"), HasSubstr("the command may still run")));
}

TEST_F(EndOfACommand, ByStopSaysWhetherTheGuestHasConfirmedIt) {
  for (const bool verified : {true, false}) {
    const nlohmann::json result = Run([verified]() -> shell::RunEnd {
      throw shell::StoppedCommand(support::StopReason::kDeadline, verified);
    });
    EXPECT_THAT(
        result.at("error").get<std::string>(),
        HasSubstr(verified ? "its processes have been stopped" : "they are gone: check it"));
    EXPECT_EQ(result.at("stdout"), "text\n");
  }
}

TEST_F(EndOfACommand, BeforeItStartedSaysSo) {
  const nlohmann::json result =
      Run([]() -> shell::RunEnd { throw support::Stopped(support::StopReason::kDeadline); });
  EXPECT_THAT(result.at("error").get<std::string>(), HasSubstr("it had not started"));
}

}  // namespace
}  // namespace tools
