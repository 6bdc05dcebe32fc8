#include "ssh/sftp/sftp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.h"
#include "unit/ssh/sftp/sftp_bytes.h"

namespace ssh {
namespace {

using namespace sftp_bytes;
using namespace std::chrono_literals;

using guest::Request;

class SftpClientTest : public ::testing::Test {
 protected:
  void MakeReady() {
    client_.Receive(Version(), start_);
    client_.Consumed(client_.output().size());
  }
  std::shared_ptr<Burst> Begin(Request request, TimePoint now) {
    const auto burst = std::make_shared<Burst>(std::vector{std::move(request)});
    burst->Begin(client_, now);
    return burst;
  }
  static bool MayHaveRun(Burst& burst) {
    try {
      burst.completion().Wait({}, {});
    } catch (const support::ConnectionLost& lost) {
      return lost.may_have_run();
    }
    ADD_FAILURE() << "was not lost";
    return false;
  }

  TimePoint start_{};
  SftpClient client_{start_, 1};
};

TEST_F(SftpClientTest, IsReadyWhenTheServerHasIntroducedItself) {
  EXPECT_EQ(client_.output(), Packet(1, Number32(3)));
  EXPECT_FALSE(client_.ready());
  client_.Receive(Version(), start_);
  EXPECT_TRUE(client_.ready());
}

TEST_F(SftpClientTest, RequestsLimitsAndKeepsThemWithinBounds) {
  for (const auto& [stated, used] : std::vector<std::pair<std::uint64_t, std::uint32_t>>{
           {0, 32 * 1024}, {1, 4096}, {100'000, 100'000}, {1ULL << 40U, 261'120}}) {
    client_ = SftpClient(start_, 1);
    client_.Receive(OpenSshVersion(), start_);
    EXPECT_FALSE(client_.ready());
    client_.Receive(
        Packet(201, Number32(1) + Number64(1) + Number64(stated) + Number64(stated) + Number64(0)),
        start_);
    EXPECT_TRUE(client_.ready());
    EXPECT_EQ(client_.max_data(), used);
  }
}

TEST_F(SftpClientTest, RefusesAnOlderVersion) {
  EXPECT_THROW(client_.Receive(Packet(2, Number32(2)), start_), SftpProtocolError);
}

TEST_F(SftpClientTest, AReplyWithoutARequestEndsTheConversation) {
  MakeReady();
  const auto burst = Begin(Request::LStat("/"), start_);
  EXPECT_THROW(client_.Receive(Status(1, 0) + Status(1, 0), start_), SftpProtocolError);
  EXPECT_TRUE(burst->finished());
}

TEST_F(SftpClientTest, FailureSaysWhichRequestsMayHaveRun) {
  MakeReady();
  const auto sent = Begin(Request::Unlink("/"), start_);
  const std::size_t length = client_.output().size();
  const auto kept = Begin(Request::Unlink("/"), start_);
  client_.Consumed(length + 1);  // one byte of the second is not a request
  client_.Fail("gone");
  EXPECT_TRUE(MayHaveRun(*sent));
  EXPECT_FALSE(MayHaveRun(*kept));
}

TEST_F(SftpClientTest, OnlyChangesKeepWaitingBehindTheOldestRequest) {
  MakeReady();
  const auto oldest = Begin(Request::Open("/"), start_);
  const auto read = Begin(Request::LStat("/"), start_);
  const auto change = Begin(Request::Unlink("/"), start_);
  EXPECT_TRUE(client_.FailBehindOldest("silent"));
  EXPECT_FALSE(MayHaveRun(*read));
  EXPECT_FALSE(oldest->finished());
  EXPECT_FALSE(change->finished());
  oldest->Fail(nullptr);
  EXPECT_TRUE(client_.FailBehindOldest("silent"));
  change->Fail(nullptr);
  EXPECT_FALSE(client_.FailBehindOldest("silent")) << "none is left";
}

TEST_F(SftpClientTest, SilenceCountsOnlyWhileTheServerOwesAReply) {
  EXPECT_EQ(client_.silent_since(), start_) << "VERSION";
  MakeReady();
  EXPECT_EQ(client_.silent_since(), TimePoint::max());
  Begin(Request::LStat("/"), start_ + 100s);
  Begin(Request::LStat("/"), start_ + 110s);
  EXPECT_EQ(client_.silent_since(), start_ + 100s);
  client_.Receive(Status(1, 0), start_ + 120s);
  EXPECT_EQ(client_.silent_since(), start_ + 120s);
}

TEST_F(SftpClientTest, ARequestLongerThanAPacketIsRefusedWithoutTheServer) {
  MakeReady();
  const std::size_t longest = kMaxSftpPacket - 9;  // type, id and the path's own length
  EXPECT_FALSE(Begin(Request::LStat(std::string(longest, 'p')), start_)->finished());
  const std::size_t sent = client_.output().size();
  EXPECT_EQ(sent, kMaxSftpPacket + 4);
  const auto refused = Begin(Request::LStat(std::string(longest + 1, 'p')), start_);
  ASSERT_TRUE(refused->finished());
  EXPECT_TRUE(refused->TakeReplies().front().Is(guest::FileErrorCode::kFailure));
  EXPECT_EQ(client_.output().size(), sent);
}

}  // namespace
}  // namespace ssh
