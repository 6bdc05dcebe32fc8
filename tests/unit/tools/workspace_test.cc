#include "tools/workspace.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "support/errors.h"
#include "testing/silent_progress.h"

namespace tools {
namespace {

using support::ConnectionLost;

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
  testing_support::SilentProgress progress_;
  int begun_ = 0;
};

TEST_F(RetriedWork, IsRetriedIfNothingCanHaveChanged) {
  EXPECT_EQ(Do(1, false), "2");
  EXPECT_EQ(begun_, 2);
}

TEST_F(RetriedWork, IsNeverRetriedIfItMayHaveRun) {
  EXPECT_THROW(Do(1, true), ConnectionLost);
  EXPECT_EQ(begun_, 1);
}

TEST_F(RetriedWork, FailsAfterTheLastAttempt) {
  EXPECT_EQ(Do(kMaximumAttempts - 1, false), std::to_string(kMaximumAttempts));
  begun_ = 0;
  EXPECT_THROW(Do(kMaximumAttempts, false), ConnectionLost);
  EXPECT_EQ(begun_, kMaximumAttempts);
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

}  // namespace
}  // namespace tools
