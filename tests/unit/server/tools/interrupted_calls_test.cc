// SPDX-License-Identifier: Apache-2.0
// Calls that are cancelled, time out, or lose the connection. tests/suites/files_meanwhile.txt has
// what else happens between two requests.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "files/file_writer.h"
#include "shell/shells.h"
#include "tools/tools.h"
#include "unit/server/tools/tool_fixture.h"

namespace tools {
namespace {

namespace fs = std::filesystem;
using guest::FileErrorCode;
using guest::Operation;
using nlohmann::json;
using support::ConnectionLost;
using support::Stopped;
using support::StopReason;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Calls about the file "file", whose content is "old".
class Interrupted : public ToolTest {
 protected:
  Interrupted() { Put("file", "old"); }

  std::string WriteError() { return Error("write_file", write); }

  void ExpectOldFile() const {
    EXPECT_EQ(Content(), "old");
    EXPECT_EQ(std::distance(fs::directory_iterator(work), {}), 1) << "only the file";
  }
  [[nodiscard]] std::string Content() const { return testing_support::ReadFile(work / "file"); }

  const json read = {{"path", "/work/file"}};
  const json write = {{"path", "/work/file"}, {"content", "new"}};
};

TEST_F(Interrupted, ByACancelAreStoppedAndLeaveTheOldFileAlone) {
  const json search = {{"pattern", "old"}, {"path", "/work"}};
  for (const auto& [tool, arguments, where] :
       {std::tuple("read_file", read, Operation::kOpen),
        std::tuple("search_file_content", search, Operation::kLStat),
        std::tuple("write_file", write, Operation::kWrite),
        std::tuple("write_file", write, Operation::kClose)}) {
    support::StopSource source;
    context = source.context();
    At(where, [&](const std::string&) { source.Stop(StopReason::kCancelled); });
    EXPECT_THROW((void)Call(tool, arguments), Stopped) << tool;
    ExpectOldFile();
  }
}

TEST_F(Interrupted, BeforeARenameAreRetriedAndInOneAreReportedAsUnknown) {
  bool is_lost = false;
  At(Operation::kRename, [&](const std::string&) {
    if (!std::exchange(is_lost, true)) throw ConnectionLost("lost", false);
  });
  Call("write_file", write);
  EXPECT_EQ(Content(), "new");
  guest->ResetCounts();
  At(Operation::kRename, [](const std::string&) { throw Stopped(StopReason::kDeadline); });
  EXPECT_THAT(WriteError(),
              HasSubstr("may have been written: it is the old file or the whole new"));
  EXPECT_EQ(guest->count(Operation::kRename), 1);
}

TEST_F(Interrupted, InAWriteInPlaceAreReportedAsInPartAndNotRetried) {
  const std::function<void()> failures[] = {
      [] { throw guest::FileError(FileErrorCode::kFailure, "sync", "/work/file", ""); },
      [] { throw ConnectionLost("lost", false); }, [] { throw Stopped(StopReason::kDeadline); }};
  for (const auto& fail : failures) {
    guest->ResetCounts();
    guest->set_hook([&](Operation operation, const std::string& path) {
      if (operation == Operation::kOpen && path.find(files::kTemporaryPrefix) != path.npos) {
        throw guest::FileError(FileErrorCode::kPermissionDenied, "open", path, "");
      }
      if (operation == Operation::kSync) fail();
      // Finding out the reason fails too, and must not hide that something was written.
      if (operation == Operation::kStatFileSystem) throw ConnectionLost("lost", false);
    });
    EXPECT_THAT(WriteError(),
                AllOf(HasSubstr("may have been written in part"), Not(HasSubstr(work.string()))));
    EXPECT_EQ(guest->count(Operation::kSync), 1);
  }
}

/// Work that loses the connection `losses` times.
class RetriedWork : public ToolTest {
 protected:
  void Do(int losses, bool may_have_run) {
    Carry([&](Task& task) {
      (void)task.workspace();
      if (++begun <= losses) throw ConnectionLost("lost", may_have_run);
      return mcp::ToolResult{};
    });
  }
  void Carry(const std::function<mcp::ToolResult(Task&)>& tool) {
    (void)Perform(toolbox, {read, context, progress}, tool);
  }
  Workspace Acquire(const support::Context& now, mcp::ProgressReporter& reporter) override {
    now.ThrowIfStopped();
    if (++acquired == fails_at) throw ConnectionLost("cannot connect", false);
    return ToolTest::Acquire(now, reporter);
  }

  Toolbox toolbox{*this, {}};
  const json read = {{"path", "/work/file"}};
  testing_support::RecordedProgress progress;
  int begun = 0;
  int acquired = 0;
  int fails_at = 0;
};

TEST_F(RetriedWork, IsNeverRetriedIfItMayHaveRun) {
  EXPECT_THROW(Do(1, true), ConnectionLost);
  EXPECT_EQ(begun, 1);
}

TEST_F(RetriedWork, IsRetriedIfNothingCanHaveChangedUntilTheLastAttempt) {
  Do(kMaxAttempts - 1, false);
  EXPECT_EQ(acquired, kMaxAttempts) << "each with a workspace of its own";
  begun = 0;
  EXPECT_THROW(Do(kMaxAttempts, false), ConnectionLost);
  EXPECT_EQ(begun, kMaxAttempts);
}

TEST_F(RetriedWork, FailsIfTheReconnectFails) {
  fails_at = 2;
  EXPECT_THROW(Do(1, false), ConnectionLost);
  EXPECT_EQ(acquired, 2);
}

TEST_F(RetriedWork, IsNotRetriedAfterACancel) {
  support::StopSource source;
  context = source.context();
  const auto lose = [&](Task& task) -> mcp::ToolResult {
    (void)task.workspace();
    source.Stop(StopReason::kCancelled);
    throw ConnectionLost("lost", false);
  };
  EXPECT_THROW(Carry(lose), Stopped);
}

TEST_F(RetriedWork, ThatTimesOutNamesTheEarlierLoss) {
  const auto lose = [&](Task& task) -> mcp::ToolResult {
    (void)task.workspace();
    if (++begun == 1) throw ConnectionLost("the guest does not answer", false);
    throw Stopped(StopReason::kDeadline);
  };
  try {
    Carry(lose);
    FAIL() << "expected an Error";
  } catch (const support::Error& error) {
    EXPECT_STREQ(error.what(), "the guest does not answer; the retry timed out");
  }
}

class TimeLimit : public ToolTest {
 protected:
  TimeLimit() : ToolTest({.time_limit = std::chrono::milliseconds(20)}) {}
};

TEST_F(TimeLimit, OfAGuestThatNeverRepliesSaysWhatWasWaitedForAndWhatToDo) {
  guest->set_reply([](const guest::Request&, const support::Context& now) {
    support::Pause(std::chrono::hours(1), now);
    return std::nullopt;
  });
  const json path = {{"path", "/work/a"}};
  const json command = {{"command", {"true"}}, {"directory", "/work/a"}};
  const json search = {{"pattern", "a"}, {"path", "/work/a"}};
  const char* unresolved = "The directory /work/a was not resolved in time";
  const struct {
    const char* tool;
    json arguments;
    const char* text;
    const char* advice;
  } calls[] = {
      {"read_file", path, "read /work/a took longer than 0.020s", "df"},
      {"list_directory", path, "list /work/a took longer", "df"},
      {"write_file", {{"path", "/work/a"}, {"content", ""}}, "write /work/a", "may have changed"},
      {"glob", search, "The search in /work/a took", "deeper"},
      {"search_file_content", search, "The search in /work/a took", "deeper"},
      {"search_file_content", {{"pattern", "a"}}, "The search in the working", "more specific"},
      {"run_shell_command", command, unresolved, "nothing was run"},
      {"start_process", command, unresolved, "nothing was run"},
  };
  for (const auto& call : calls) {
    EXPECT_THAT(Error(call.tool, call.arguments),
                AllOf(HasSubstr(call.text), HasSubstr(call.advice)))
        << call.tool;
  }
}

TEST_F(TimeLimit, IsSharedByTheAttemptsOfACommandUntilItsDirectoryIsKnown) {
  guest->set_reply(
      [](const guest::Request&, const support::Context& now) -> std::optional<guest::Reply> {
        support::Pause(std::chrono::milliseconds(15), now);
        throw ConnectionLost("the guest does not answer", false);
      });
  const json command = {{"command", {"true"}}, {"directory", "/work/a"}};
  for (const char* tool : {"run_shell_command", "start_process"}) {
    EXPECT_THAT(Error(tool, command), HasSubstr("was not resolved in time")) << tool;
  }
}

/// Runs something once a process has been started.
class AfterStart final : public mcp::ProgressReporter {
 public:
  explicit AfterStart(std::function<void()> action) : action_(std::move(action)) {}
  void SetStatus(std::string text) override {
    if (text.ends_with("has been started")) action_();
  }

 private:
  const std::function<void()> action_;
};

TEST_F(TimeLimit, IsNotThatOfACommand) {
  Toolbox toolbox(*this, {.time_limit = std::chrono::seconds(1)});
  AfterStart ignored([] {});
  const json arguments = {{"command", {"sleep", "1.2"}}, {"directory", "/work"}};
  const mcp::ToolCall call = {arguments, context, ignored};
  Task task(toolbox, call);
  EXPECT_EQ(RunShellCommand(task).end.exit_code, 0);
}

TEST_F(TimeLimit, StopsAProcessWhoseIdIsNotReturnedAndSoDoesACancel) {
  constexpr std::chrono::seconds kLimit{2};
  Toolbox toolbox(*this, {.time_limit = kLimit});
  support::StopSource stop;
  AfterStart late([&] { support::Pause(kLimit, {}); });
  AfterStart cancelled([&] { stop.Stop(StopReason::kCancelled); });
  const json arguments = {{"command", {"sleep", "60"}}, {"directory", "/work"}};
  const mcp::ToolCall late_call = {arguments, context, late};
  const mcp::ToolCall cancelled_call = {arguments, stop.context(), cancelled};
  Task late_task(toolbox, late_call);
  Task cancelled_task(toolbox, cancelled_call);
  EXPECT_THROW((void)StartProcess(late_task), support::Error);
  EXPECT_THROW((void)StartProcess(cancelled_task), Stopped);
  EXPECT_TRUE(toolbox.processes.List().empty());
}

class EndOfACommand : public ToolTest {
 protected:
  Workspace Acquire(const support::Context& now, mcp::ProgressReporter& reporter) override {
    acquired_at = support::Clock::now();
    return ToolTest::Acquire(now, reporter);
  }

  const json command = {{"command", {"echo", "text"}}, {"directory", "/work"}};
  support::Clock::time_point acquired_at;
};

TEST_F(EndOfACommand, IsLimitedOnceThereIsAConnection) {
  std::optional<support::Clock::time_point> first_deadline;
  guest->set_reply([&](const guest::Request&, const support::Context& now) {
    if (!first_deadline) first_deadline = now.deadline();
    return std::nullopt;
  });
  Call("run_shell_command", command);
  EXPECT_GE(first_deadline.value(), acquired_at + ToolOptions().time_limit);
  EXPECT_LE(ToolOptions().time_limit, std::chrono::seconds(50)) << "clients give up after 60 s";
}

TEST_F(EndOfACommand, ThatIsNotKnownIsAnErrorWithoutAnExitCode) {
  const std::pair<std::function<shell::RunEnd()>, const char*> ends[] = {
      {[] { return shell::RunEnd{}; }, "the guest did not report how the command ended"},
      {[] { return shell::RunEnd{.exit_status = {}, .exit_signal = "KILL"}; },
       "the guest's shell that ran the command was killed by signal KILL, so the exit code is "
       "unknown; the command may still run"},
      {[]() -> shell::RunEnd {
         throw shell::StoppedCommand(StopReason::kDeadline, "what is known");
       },
       "timed out after 9m; what is known"},
      {[]() -> shell::RunEnd { throw shell::StoppedCommand(StopReason::kDeadline, ""); },
       "timed out after 9m; it had not started: the guest user's login shell was still in its "
       "startup files: check ~/.profile and /etc/profile in the guest"},
      {[]() -> shell::RunEnd { throw Stopped(StopReason::kDeadline); },
       "timed out after 9m; it had not started"},
  };
  for (const auto& [end, error] : ends) {
    guest->set_run([&](const shell::Script&, shell::OutputSink& sink, const support::Context&) {
      testing_support::Print(sink, "text\n");
      return end();
    });
    EXPECT_EQ(Structured(Call("run_shell_command", command)),
              (json{{"stdout", "text\n"}, {"stderr", ""}, {"error", error}}));
  }
}

}  // namespace
}  // namespace tools
