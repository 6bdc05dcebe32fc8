#include "ssh/completion.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "support/errors.h"

namespace ssh {
namespace {

using namespace std::chrono_literals;

TEST(Completion, ReturnsWhatHasFinishedBefore) {
  Completion completion;
  completion.Finish();
  completion.Wait({}, [](support::StopReason) { FAIL(); });
}

TEST(Completion, RethrowsTheFailure) {
  Completion completion;
  completion.Finish(std::make_exception_ptr(std::out_of_range("x")));
  EXPECT_THROW(completion.Wait({}, [](support::StopReason) {}), std::out_of_range);
}

TEST(Completion, ADeadlineWithdrawsOnceAndThenWaitsForTheEnd) {
  Completion completion;
  int withdrawals = 0;
  const auto withdraw = [&](support::StopReason reason) {
    ++withdrawals;
    EXPECT_EQ(reason, support::StopReason::kDeadline);
    completion.Finish(std::make_exception_ptr(support::Stopped(reason)));
  };
  EXPECT_THROW(completion.Wait(support::Context().WithTimeout(1ms), withdraw), support::Stopped);
  EXPECT_EQ(withdrawals, 1);
}

TEST(Completion, AStopWithdrawsAtOnceEvenOneThatCameBefore) {
  for (const bool before : {true, false}) {
    support::StopSource source;
    if (before) source.Stop(support::StopReason::kCancelled);
    std::thread stopper([&] {
      if (!before) source.Stop(support::StopReason::kCancelled);
    });
    Completion completion;
    EXPECT_THROW(
        completion.Wait(source.context(),
                        [&](support::StopReason reason) {
                          EXPECT_EQ(reason, support::StopReason::kCancelled);
                          completion.Finish(std::make_exception_ptr(support::Stopped(reason)));
                        }),
        support::Stopped);
    stopper.join();
  }
}

}  // namespace
}  // namespace ssh
