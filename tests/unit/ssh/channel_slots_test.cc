#include "ssh/channel_slots.h"

#include <gtest/gtest.h>

namespace ssh {
namespace {

using namespace std::chrono_literals;

class ChannelSlotsTest : public ::testing::Test {
 protected:
  void Open(int count) {
    for (int i = 0; i < count; ++i) slots_.OnRequestSent();
    for (int i = 0; i < count; ++i) slots_.OnOpened();
  }

  ChannelSlots slots_;
  const ChannelSlots::TimePoint now_{};
};

TEST_F(ChannelSlotsTest, AnythingGoesUntilTheFirstRefusal) {
  Open(100);
  EXPECT_TRUE(slots_.MayOpen(now_));
}

TEST_F(ChannelSlotsTest, ARefusalIsRememberedUntilTheNextTry) {
  Open(2);
  slots_.OnRequestSent();
  slots_.OnRefused(now_);
  EXPECT_FALSE(slots_.MayOpen(now_));
  EXPECT_EQ(slots_.RetryAt(), now_ + ChannelSlots::kFirstPause);
  EXPECT_TRUE(slots_.MayOpen(slots_.RetryAt()));
}

TEST_F(ChannelSlotsTest, ThePauseGrowsToItsLimit) {
  auto now = now_;
  ChannelSlots::TimePoint last = now;
  for (int i = 0; i < 20; ++i) {
    slots_.OnRequestSent();
    slots_.OnRefused(now);
    last = now;
    now = slots_.RetryAt();
  }
  EXPECT_EQ(now - last, ChannelSlots::kLongestPause);
}

TEST_F(ChannelSlotsTest, AClosedChannelIsTriedForAtOnce) {
  Open(2);
  slots_.OnRequestSent();
  slots_.OnRefused(now_);
  slots_.OnClosed(now_);
  EXPECT_TRUE(slots_.MayOpen(now_));
}

TEST_F(ChannelSlotsTest, BeyondWhatIsKnownToWorkOneTryAtATime) {
  Open(2);
  slots_.OnRequestSent();
  slots_.OnRefused(now_);
  const auto later = slots_.RetryAt();
  slots_.OnRequestSent();
  EXPECT_FALSE(slots_.MayOpen(later));
  slots_.OnOpened();
  EXPECT_TRUE(slots_.MayOpen(later)) << "the guest allows more by now";
}

TEST_F(ChannelSlotsTest, OpenEndedUsersLeaveChannelsOfTheUsualLimitToOthers) {
  EXPECT_EQ(slots_.OpenEndedLimit(), ChannelSlots::kUsualLimit - ChannelSlots::kReserved);
  Open(20);
  EXPECT_EQ(slots_.OpenEndedLimit(), 20 - ChannelSlots::kReserved) << "the guest allows more";
}

TEST_F(ChannelSlotsTest, OpenEndedUsersLeaveChannelsOfALearnedLimitToOthers) {
  Open(4);
  slots_.OnRequestSent();
  slots_.OnRefused(now_);
  EXPECT_EQ(slots_.OpenEndedLimit(), 4 - ChannelSlots::kReserved);
}

TEST_F(ChannelSlotsTest, OneOpenEndedUserMayHaveAChannelHoweverFewThereAre) {
  Open(1);
  slots_.OnRequestSent();
  slots_.OnRefused(now_);
  EXPECT_EQ(slots_.OpenEndedLimit(), 1U);
}

}  // namespace
}  // namespace ssh
