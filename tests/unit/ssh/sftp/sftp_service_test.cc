#include "ssh/sftp/sftp_service.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "support/errors.h"

namespace ssh {
namespace {

TEST(SftpServiceTest, BurstsThatWaitForTheServerHaveNotRun) {
  ChannelBroker broker(nullptr, [] { return false; });
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
  service.Withdraw(*stopped, support::StopReason::kCancelled);
  ASSERT_TRUE(stopped->finished());
  EXPECT_THROW(stopped->completion().Wait({}, {}), support::Stopped);
  service.Lose("gone");
  expect_lost(*lost, "remove /b: gone; nothing was changed in the guest");
}

}  // namespace
}  // namespace ssh
