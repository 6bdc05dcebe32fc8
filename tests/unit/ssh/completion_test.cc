#include "ssh/completion.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "support/errors.h"

namespace ssh {
namespace {

TEST(Completion, ReturnsOrRethrowsWhatHasFinished) {
  const auto never = [](support::StopReason) { FAIL(); };
  Completion good;
  good.Finish();
  good.Wait({}, never);
  Completion failed;
  failed.Finish(MakeFailure<std::out_of_range>("x"));
  EXPECT_THROW(failed.Wait({}, never), std::out_of_range);
}

TEST(Completion, WithdrawsOnceWhenTheContextEndsAndThenWaitsForTheEnd) {
  using support::StopReason;
  for (const StopReason reason : {StopReason::kDeadline, StopReason::kCancelled}) {
    support::StopSource source;
    std::thread stopper([&] {
      if (reason == StopReason::kCancelled) source.Stop(reason);
    });
    const auto timeout = std::chrono::milliseconds(reason == StopReason::kDeadline ? 1 : 60'000);
    Completion completion;
    int withdrawals = 0;
    const auto withdraw = [&](StopReason given) {
      ++withdrawals;
      EXPECT_EQ(given, reason);
      completion.Finish(MakeFailure<support::Stopped>(given));
    };
    EXPECT_THROW(completion.Wait(source.context().WithTimeout(timeout), withdraw),
                 support::Stopped);
    EXPECT_EQ(withdrawals, 1);
    stopper.join();
  }
}

}  // namespace
}  // namespace ssh
