// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "ssh/completion.h"
#include "ssh/session_guest.h"
#include "ssh/sftp/sftp_service.h"
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

TEST(CipherList, PutsTheNamesAfterACaretBeforeTheDefaults) {
  EXPECT_EQ(CipherList("^aes256-gcm@openssh.com,aes128-cbc"),
            "aes256-gcm@openssh.com,aes128-cbc,aes128-gcm@openssh.com,"
            "chacha20-poly1305@openssh.com,aes256-ctr,aes192-ctr,aes128-ctr");
}

TEST(CipherList, LeavesEverythingElseToLibssh) {
  for (const char* value : {"", "a,b", "+a", "-a*"}) EXPECT_EQ(CipherList(value), value);
}

TEST(SftpServiceTest, BurstsThatWaitForTheServerHaveNotRun) {
  ChannelBroker broker(
      nullptr, [] { return false; }, [] { return ""; });
  SftpService service(broker);
  const auto submit = [&](guest::Request request) {
    auto burst = std::make_shared<Burst>(std::vector<guest::Request>{std::move(request)});
    service.Submit(burst);
    return burst;
  };
  const auto expect_lost = [](Burst& burst, const char* text) {
    ASSERT_TRUE(burst.finished());
    try {
      burst.completion().Wait({}, {});
      FAIL();
    } catch (const support::ConnectionLost& lost) {
      EXPECT_STREQ(lost.what(), text);
      EXPECT_FALSE(lost.may_have_run());
    }
  };
  const auto on_old_channel = submit(guest::Request::Write({"h", 1, "/f"}, 0, "x"));
  expect_lost(
      *on_old_channel,
      "write /f: the file's SFTP channel has been closed; nothing was changed in the guest");
  const auto stopped = submit(guest::Request::Unlink("/a"));
  const auto lost = submit(guest::Request::Unlink("/b"));
  service.Cancel(*stopped, support::StopReason::kCancelled);
  ASSERT_TRUE(stopped->finished());
  EXPECT_THROW(stopped->completion().Wait({}, {}), support::Stopped);
  service.OnSessionLost("gone");
  expect_lost(*lost, "remove /b: gone; nothing was changed in the guest");
}

}  // namespace
}  // namespace ssh
