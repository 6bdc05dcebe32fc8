#include "tools/workspace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "support/errors.h"
#include "testing/local_guest.h"
#include "testing/recorded_progress.h"
#include "unit/tools/tool_named.h"

namespace tools {
namespace {

using support::ConnectionLost;
using ::testing::AllOf;
using ::testing::HasSubstr;

class CountedSource final : public WorkspaceSource {
 public:
  Workspace Acquire(const support::Context& context, mcp::ProgressReporter&) override {
    ++acquired;
    context.ThrowIfStopped();
    if (acquired == fails_at) throw ConnectionLost("cannot connect", false);
    Workspace workspace;
    workspace.shell = std::to_string(acquired);
    return workspace;
  }
  int acquired = 0;
  int fails_at = 0;
};

class RetriedWork : public ::testing::Test {
 protected:
  /// Loses the connection `losses` times, then returns the number of the last one.
  std::string Do(int losses, bool may_have_run) {
    std::string last;
    WithWorkspace(source_, source_of_stop_.context(), progress_, [&](const Workspace& workspace) {
      ++begun_;
      if (begun_ <= losses) throw ConnectionLost("lost", may_have_run);
      last = workspace.shell;
    });
    return last;
  }

  CountedSource source_;
  support::StopSource source_of_stop_;
  testing_support::RecordedProgress progress_;
  int begun_ = 0;
};

TEST_F(RetriedWork, IsNeverRetriedIfItMayHaveRun) {
  EXPECT_THROW(Do(1, true), ConnectionLost);
  EXPECT_EQ(begun_, 1);
}

TEST_F(RetriedWork, IsRetriedIfNothingCanHaveChangedUntilTheLastAttempt) {
  EXPECT_EQ(Do(kMaxAttempts - 1, false), std::to_string(kMaxAttempts));
  begun_ = 0;
  EXPECT_THROW(Do(kMaxAttempts, false), ConnectionLost);
  EXPECT_EQ(begun_, kMaxAttempts);
}

TEST_F(RetriedWork, FailsIfTheReconnectFails) {
  source_.fails_at = 2;
  EXPECT_THROW(Do(1, false), ConnectionLost);
  EXPECT_EQ(source_.acquired, 2);
}

TEST_F(RetriedWork, IsNotRetriedAfterACancel) {
  EXPECT_THROW(WithWorkspace(source_, source_of_stop_.context(), progress_,
                             [&](const Workspace&) {
                               source_of_stop_.Stop(support::StopReason::kCancelled);
                               throw ConnectionLost("lost", false);
                             }),
               support::Stopped);
}

TEST_F(RetriedWork, ThatTimesOutNamesTheEarlierLoss) {
  int attempts = 0;
  try {
    WithWorkspace(source_, {}, progress_, [&](const Workspace&) {
      if (++attempts == 1) throw ConnectionLost("the guest does not answer", false);
      throw support::Stopped(support::StopReason::kDeadline);
    });
    FAIL() << "expected a CallError";
  } catch (const support::CallError& error) {
    EXPECT_STREQ(error.what(), "the guest does not answer; the retry timed out");
  }
}

/// The guest never replies.
class TimeOut : public ::testing::Test, protected WorkspaceSource {
 protected:
  TimeOut() {
    guest_->set_reply([](const guest::Request&, const support::Context& context) {
      support::Pause(std::chrono::hours(1), context);
      return std::nullopt;
    });
  }

  Workspace Acquire(const support::Context& context, mcp::ProgressReporter&) override {
    if (!guest_) support::Pause(std::chrono::hours(1), context);
    paths::PathRules::Options options;
    options.roots = {{.host = "/work", .guest = "/mnt", .writable = true}};
    return {guest_, std::make_shared<const paths::PathRules>(options), "/bin/sh"};
  }

  std::string ErrorOf(const std::string& tool, const nlohmann::json& arguments) {
    const ToolOptions hasty{.time_limit = std::chrono::milliseconds(20)};
    try {
      (void)ToolNamed(tool, *this, hasty).call({arguments, {}, progress_});
      return "no error";
    } catch (const support::CallError& error) {
      return error.what();
    }
  }

  std::shared_ptr<testing_support::LocalGuest> guest_ =
      std::make_shared<testing_support::LocalGuest>();
  testing_support::RecordedProgress progress_;
};

TEST_F(TimeOut, SaysWhatWasWaitedForAndWhatToDo) {
  const nlohmann::json command = {{"command", {"true"}}, {"directory", "/work/a"}};
  const struct {
    const char* tool;
    nlohmann::json arguments;
    const char* text;
    const char* advice;
  } calls[] = {
      {"read_file", {{"path", "/work/a"}}, "read /work/a took longer than 0.020s", "df"},
      {"list_directory", {{"path", "/work/a"}}, "list /work/a took longer", "df"},
      {"write_file",
       {{"path", "/work/a"}, {"content", ""}},
       "write /work/a took",
       "may have changed"},
      {"glob", {{"pattern", "*"}, {"path", "/work/a"}}, "The search in /work/a took", "deeper"},
      {"search_file_content",
       {{"pattern", "a"}, {"path", "/work/a"}},
       "The search in /work/a took",
       "deeper"},
      {"run_shell_command", command, "The directory /work/a was not resolved in time",
       "nothing was run"},
      {"start_process", command, "The directory /work/a was not resolved in time",
       "nothing was run"},
  };
  for (const auto& call : calls) {
    EXPECT_THAT(ErrorOf(call.tool, call.arguments),
                AllOf(HasSubstr(call.text), HasSubstr(call.advice)))
        << call.tool;
  }
}

TEST(TimeLimit, LeavesRoomBeforeClientsGiveUp) {
  EXPECT_LE(ToolOptions().time_limit, std::chrono::seconds(50));
}

}  // namespace
}  // namespace tools
