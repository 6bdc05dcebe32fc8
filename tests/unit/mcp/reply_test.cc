#include "mcp/reply.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "unit/mcp/piped_output.h"

namespace mcp {
namespace {

using Lines = std::vector<std::string>;

class ReplyTest : public ::testing::Test {
 protected:
  Reply Open(const nlohmann::json& id) { return *requests_.Open(*ParseId(id)); }
  void Cancel(const nlohmann::json& id) { requests_.Cancel(*ParseId(id)); }
  Lines Sent() { return output_.Lines(); }

  PipedOutput output_;
  Requests requests_{output_.writer()};
};

TEST_F(ReplyTest, AForgottenReplySendsAnInternalError) {
  { const Reply forgotten = Open(1); }
  const Lines sent = Sent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_NE(sent[0].find("-32603"), std::string::npos);
}

TEST_F(ReplyTest, AMovedReplyIsAnsweredByItsNewOwnerOnly) {
  {
    Reply first = Open(1);
    Reply second = std::move(first);
    first.Result(Json::object());  // NOLINT: that is the case
    EXPECT_TRUE(Sent().empty());
    second.Result(Json::object());
  }
  EXPECT_EQ(Sent().size(), 1U);
}

TEST_F(ReplyTest, NothingIsSentOnceTheRequestIsCancelled) {
  {
    Reply reply = Open(1);
    const support::Context context = reply.stop().context();
    Cancel(1);
    EXPECT_EQ(context.stop_reason(), support::StopReason::kCancelled);
    EXPECT_EQ(support::Describe(context.stop_reason()), "cancelled by the client");
    reply.Notify("progress", 1);
    reply.Result(Json::object());
  }
  {
    const Reply never_answered = Open(2);
    Cancel(2);
  }
  EXPECT_TRUE(Sent().empty());
}

TEST_F(ReplyTest, OneResponseIsSentAndNothingAfterIt) {
  Reply reply = Open(1);
  reply.Notify("progress", 1);
  reply.Result(Json::object());
  reply.Notify("late", 2);
  reply.Result(Json::object());
  EXPECT_EQ(Sent(), (Lines{R"({"jsonrpc":"2.0","method":"progress","params":1})",
                           R"({"jsonrpc":"2.0","id":1,"result":{}})"}));
}

TEST_F(ReplyTest, AnIdIsFreeAgainAfterTheResponse) {
  Reply reply = Open(1);
  EXPECT_FALSE(requests_.Open(*ParseId(1)));
  reply.Result(Json::object());
  Open(1).Result(Json::object());
  EXPECT_EQ(Sent().size(), 2U);
}

}  // namespace
}  // namespace mcp
