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

  Workspace Acquire(const support::Context& context, mcp::ProgressReporter& progress) override {
    acquired_at_ = support::Clock::now();
    return SearchToolFixture::Acquire(context, progress);
  }

  const mcp::Tool tool_ = ToolNamed("run_shell_command", *this);
  support::Clock::time_point acquired_at_;
};

TEST_F(RunShellCommandTool, TimeLimitStartsWhenThereIsAConnection) {
  std::optional<support::Clock::time_point> first_deadline;
  guest_.set_reply([&](const guest::Request&, const support::Context& context) {
    if (!first_deadline) first_deadline = context.deadline();
    return std::nullopt;
  });
  Call(tool_, Arguments({"true"}));
  EXPECT_GE(first_deadline.value(), acquired_at_ + ToolOptions().time_limit);
}

/// Reports the end of a command as a test sets it.
class EndOfACommand : public RunShellCommandTool {
 protected:
  nlohmann::json Run(const std::function<shell::RunEnd()>& end) {
    guest_.set_run([&](const shell::Script&, shell::OutputSink& sink, const support::Context&) {
      testing_support::Print(sink, "text\n");
      return end();
    });
    return Structured(Call(tool_, Arguments({"echo", "text"})));
  }

  static shell::RunEnd Status(std::optional<int> status) {
    shell::RunEnd end;
    end.exit_status = status;
    return end;
  }
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
