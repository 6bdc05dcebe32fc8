#include "mcp/reply.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "unit/mcp/recording_transport.h"

namespace mcp {
namespace {

class Sink : public ReplySink {
 public:
  explicit Sink(std::vector<std::string>& out) : out_(out) {}
  void Deliver(const RequestId*, Line response) override {
    out_.push_back(std::move(response).Text());
  }

 private:
  std::vector<std::string>& out_;
};

class ReplyTest : public ::testing::Test {
 protected:
  Reply Open(const nlohmann::json& id) {
    return {in_flight_, in_flight_.Open(*RequestId::From(id), std::make_shared<Sink>(answers_))};
  }

  RecordingTransport transport_;
  InFlight in_flight_{transport_};
  std::vector<std::string> answers_;
};

using Answers = std::vector<std::string>;

TEST_F(ReplyTest, SendsOneResult) {
  Open(1).Result("{}");
  EXPECT_EQ(answers_, (Answers{R"({"jsonrpc":"2.0","id":1,"result":{}})"}));
}

TEST_F(ReplyTest, AForgottenReplyAnswersByItself) {
  { const Reply forgotten = Open(1); }
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_NE(answers_[0].find("-32603"), std::string::npos);
}

TEST_F(ReplyTest, AMovedReplyIsAnsweredByItsNewOwnerOnly) {
  {
    Reply first = Open(1);
    Reply second = std::move(first);
    second.Result("{}");
  }
  EXPECT_EQ(answers_.size(), 1U);
}

TEST_F(ReplyTest, ErrorOnAReplyHandedOnDoesNothing) {
  Reply first = Open(1);
  Reply second = std::move(first);
  first.Error(ProtocolError(ErrorCode::kInternalError, "late"));  // NOLINT: that is the case
  EXPECT_TRUE(answers_.empty());
  second.Result("{}");
}

TEST_F(ReplyTest, NothingIsSentOnceTheRequestIsWithdrawn) {
  Reply reply = Open(1);
  const support::Context context = reply.request()->stop().context();
  EXPECT_TRUE(in_flight_.Cancel(*RequestId::From(1)));
  EXPECT_EQ(context.stop_reason(), support::StopReason::kCancelled);
  EXPECT_FALSE(in_flight_.Notify(*reply.request(), "progress"));
  reply.Result("{}");
  EXPECT_TRUE(answers_.empty());
  EXPECT_TRUE(transport_.lines.empty());
}

TEST_F(ReplyTest, AWithdrawnRequestLetsGoOfItsSinkAtOnce) {
  auto sink = std::make_shared<Sink>(answers_);
  const std::weak_ptr<Sink> watched = sink;
  const Reply reply(in_flight_, in_flight_.Open(*RequestId::From(1), std::move(sink)));
  in_flight_.Cancel(*RequestId::From(1));
  EXPECT_TRUE(watched.expired()) << "a batch would wait for the work to end";
}

TEST_F(ReplyTest, AForgottenWithdrawnReplyIsSilent) {
  {
    const Reply reply = Open(1);
    in_flight_.Cancel(*RequestId::From(1));
  }
  EXPECT_TRUE(answers_.empty());
}

TEST_F(ReplyTest, NothingIsSentAfterTheAnswer) {
  Reply reply = Open(1);
  EXPECT_TRUE(in_flight_.Notify(*reply.request(), "progress"));
  reply.Result("{}");
  EXPECT_FALSE(in_flight_.Notify(*reply.request(), "late"));
  EXPECT_FALSE(in_flight_.Cancel(*RequestId::From(1)));
  EXPECT_EQ(transport_.lines, (Answers{"progress"}));
}

TEST_F(ReplyTest, AnIdIsFreeAgainAfterTheAnswer) {
  Reply reply = Open(1);
  EXPECT_EQ(in_flight_.Open(*RequestId::From(1), nullptr), nullptr);
  reply.Result("{}");
  Open(1).Result("{}");
  EXPECT_EQ(answers_.size(), 2U);
}

#ifndef NDEBUG
TEST_F(ReplyTest, ASecondAnswerIsAProgrammingError) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        Reply reply = Open(1);
        reply.Result("{}");
        reply.Result("{}");
      },
      "answered once");
}
#endif

}  // namespace
}  // namespace mcp
