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
    client_.Consumed(client_.output().size(), start_);
  }
  void Stat(std::vector<SftpReply>& replies, TimePoint now) {
    client_.Send(PathRequest(SftpType::kStat, "/"), now,
                 [&](SftpReply&& reply) { replies.push_back(std::move(reply)); });
  }

  TimePoint start_{};
  SftpClient client_{30s, start_};
};

TEST_F(SftpClientTest, IsReadyWhenTheServerHasIntroducedItself) {
  EXPECT_EQ(client_.output(), Packet(1, Number32(3)));
  EXPECT_FALSE(client_.ready());
  client_.Receive(Version(), start_);
  EXPECT_TRUE(client_.ready());
}

TEST_F(SftpClientTest, AsksForLimitsAndKeepsThemWithinBounds) {
  client_.Receive(Version(String("limits@openssh.com") + String("1")), start_);
  EXPECT_FALSE(client_.ready());
  client_.Receive(
      Packet(201, Number32(1) + Number64(1) + Number64(0) + Number64(1ULL << 40U) + Number64(0)),
      start_);
  EXPECT_TRUE(client_.ready());
  EXPECT_EQ(client_.maximum_read(), 32U * 1024U) << "0 is no limit stated";
  EXPECT_EQ(client_.maximum_write(), 261'120U);
}

TEST_F(SftpClientTest, BelievesNoLimitsThatMakeCountlessRequestsOfOneBurst) {
  client_.Receive(OpenSshVersion(), start_);
  client_.Receive(
      Packet(201, Number32(1) + Number64(0) + Number64(1) + Number64(4'095) + Number64(0)), start_);
  EXPECT_EQ(client_.maximum_read(), 4'096U);
  EXPECT_EQ(client_.maximum_write(), 4'096U);
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
  EXPECT_EQ(std::get<SftpStatus>(first.at(0)).code, SftpStatusCode::kNoSuchFile);
  EXPECT_EQ(client_.pending(), 0U);
}

TEST_F(SftpClientTest, AReplyToNothingEndsTheConversation) {
  MakeReady();
  EXPECT_THROW(client_.Receive(Status(77, 0), start_), SftpProtocolError);
}

TEST_F(SftpClientTest, ASecondReplyToOneRequestEndsTheConversation) {
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
  client_.Consumed(length + 1, start_);  // one byte of the second is not a request
  client_.Fail("gone");
  EXPECT_TRUE(std::get<SftpLost>(sent.at(0)).may_have_run);
  EXPECT_FALSE(std::get<SftpLost>(kept.at(0)).may_have_run);
}

TEST_F(SftpClientTest, SilenceCountsOnlyWhileTheServerOwesAnAnswer) {
  EXPECT_EQ(client_.SilenceEnds(), start_ + 30s) << "it owes its introduction";
  MakeReady();
  EXPECT_EQ(client_.SilenceEnds(), TimePoint::max());
  std::vector<SftpReply> replies;
  Stat(replies, start_ + 100s);
  EXPECT_EQ(client_.SilenceEnds(), start_ + 130s);
  EXPECT_EQ(client_.silent_since(), start_ + 100s);
  client_.Consumed(3, start_ + 110s);
  EXPECT_EQ(client_.SilenceEnds(), start_ + 140s) << "a slow line is not a silent server";
  EXPECT_EQ(client_.silent_since(), start_ + 100s);
}

TEST_F(SftpClientTest, ARequestLongerThanAPacketIsRefusedWithoutTheServer) {
  MakeReady();
  std::vector<SftpReply> replies;
  const auto ask = [&](std::size_t length) {
    client_.Send(PathRequest(SftpType::kStat, std::string(length, 'p')), start_,
                 [&](SftpReply&& reply) { replies.push_back(std::move(reply)); });
  };
  const std::size_t longest = kMaximumSftpPacket - 9;  // type, id and the path's own length
  ask(longest);
  EXPECT_TRUE(replies.empty());
  const std::size_t sent = client_.output().size();
  EXPECT_EQ(sent, kMaximumSftpPacket + 4);
  ask(longest + 1);
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_EQ(std::get<SftpStatus>(replies[0]).code, SftpStatusCode::kFailure);
  EXPECT_EQ(client_.output().size(), sent);
}

TEST_F(SftpClientTest, PendingRequestsAreBounded) {
  MakeReady();
  std::vector<SftpReply> replies;
  for (std::size_t i = 0; i < SftpClient::kMaximumPending; ++i) Stat(replies, start_);
  EXPECT_TRUE(replies.empty());
  Stat(replies, start_);
  ASSERT_EQ(replies.size(), 1U);
  EXPECT_FALSE(std::get<SftpLost>(replies[0]).may_have_run);
}

TEST_F(SftpClientTest, ACloseIsSentHoweverManyRequestsWait) {
  MakeReady();
  std::vector<SftpReply> replies;
  while (client_.pending() < SftpClient::kMaximumPending) Stat(replies, start_);
  client_.Send(HandleRequest(SftpType::kClose, "h"), start_,
               [&](SftpReply&& reply) { replies.push_back(std::move(reply)); });
  EXPECT_TRUE(replies.empty());
  EXPECT_EQ(client_.pending(), SftpClient::kMaximumPending + 1);
}

TEST_F(SftpClientTest, WhatIsOpenIsCountedHoweverTheServerAnswers) {
  MakeReady();
  const auto ignore = [](SftpReply&&) {};
  client_.Send(PathRequest(SftpType::kOpenDirectory, "/d"), start_, ignore);
  EXPECT_EQ(client_.open_handles(), 1U);
  client_.Send(HandleRequest(SftpType::kClose, "never opened"), start_, ignore);
  client_.Receive(Status(1, 3), start_);
  EXPECT_EQ(client_.open_handles(), 0U);
  client_.Send(PathRequest(SftpType::kOpenDirectory, "/d"), start_, ignore);
  client_.Receive(Handle(3, "h"), start_);
  EXPECT_EQ(client_.open_handles(), 1U);
}

}  // namespace
}  // namespace ssh
