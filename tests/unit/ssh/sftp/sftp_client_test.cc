#include "ssh/sftp/sftp_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/ssh/sftp/sftp_bytes.h"

namespace ssh {
namespace {

using namespace sftp_bytes;
using namespace std::chrono_literals;
using TimePoint = SftpClient::TimePoint;

class SftpClientTest : public ::testing::Test {
 protected:
  void MakeReady() {
    client_.Receive(Version(), start_);
    client_.Consumed(client_.output().size());
  }
  void Stat(std::vector<SftpReply>& replies, TimePoint now) {
    client_.Send(guest::Request::Stat("/"), now,
                 [&](SftpReply&& reply) { replies.push_back(std::move(reply)); });
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

TEST_F(SftpClientTest, MatchesRepliesById) {
  MakeReady();
  std::vector<SftpReply> first;
  std::vector<SftpReply> second;
  Stat(first, start_);
  Stat(second, start_);
  client_.Receive(Status(2, 3), start_);
  EXPECT_TRUE(first.empty());
  ASSERT_EQ(second.size(), 1U);
  client_.Receive(Status(1, 2), start_);
  EXPECT_TRUE(std::get<guest::Reply>(first.at(0)).Is(guest::FileErrorCode::kNotFound));
  EXPECT_EQ(client_.pending(), 0U);
}

TEST_F(SftpClientTest, AReplyWithoutARequestEndsTheConversation) {
  MakeReady();
  std::vector<SftpReply> replies;
  Stat(replies, start_);
  EXPECT_THROW(client_.Receive(Status(1, 0) + Status(1, 0), start_), SftpProtocolError);
  EXPECT_EQ(replies.size(), 1U);
}

TEST_F(SftpClientTest, FailureSaysWhichRequestsMayHaveRun) {
  MakeReady();
  std::vector<SftpReply> sent;
  std::vector<SftpReply> kept;
  Stat(sent, start_);
  const std::size_t length = client_.output().size();
  Stat(kept, start_);
  client_.Consumed(length + 1);  // one byte of the second is not a request
  client_.Fail("gone");
  EXPECT_TRUE(std::get<SftpLost>(sent.at(0)).may_have_run);
  EXPECT_FALSE(std::get<SftpLost>(kept.at(0)).may_have_run);
}

TEST_F(SftpClientTest, SilenceCountsOnlyWhileTheServerOwesAReply) {
  EXPECT_EQ(client_.silent_since(), start_) << "VERSION";
  MakeReady();
  EXPECT_EQ(client_.silent_since(), TimePoint::max());
  std::vector<SftpReply> replies;
  Stat(replies, start_ + 100s);
  Stat(replies, start_ + 110s);
  EXPECT_EQ(client_.silent_since(), start_ + 100s);
  client_.Receive(Status(1, 0), start_ + 120s);
  EXPECT_EQ(client_.silent_since(), start_ + 120s);
}

TEST_F(SftpClientTest, ARequestLongerThanAPacketIsRefusedWithoutTheServer) {
  MakeReady();
  std::vector<SftpReply> replies;
  const auto send = [&](std::size_t length) {
    client_.Send(guest::Request::Stat(std::string(length, 'p')), start_,
                 [&](SftpReply&& reply) { replies.push_back(std::move(reply)); });
  };
  const std::size_t longest = kMaxSftpPacket - 9;  // type, id and the path's own length
  send(longest);
  EXPECT_TRUE(replies.empty());
  const std::size_t sent = client_.output().size();
  EXPECT_EQ(sent, kMaxSftpPacket + 4);
  send(longest + 1);
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_TRUE(std::get<guest::Reply>(replies[0]).Is(guest::FileErrorCode::kFailure));
  EXPECT_EQ(client_.output().size(), sent);
}

}  // namespace
}  // namespace ssh
