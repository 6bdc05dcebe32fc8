#include "mcp/subscriptions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "fake_scheduler.h"
#include "unit/mcp/recording_transport.h"

namespace mcp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Unanswered : public ReplySink {
 public:
  void Deliver(const RequestId*, Line) override {}
};

class SubscriptionsTest : public ::testing::Test {
 protected:
  ~SubscriptionsTest() override { subscriptions_.CloseAll(); }

  void Listen(const std::string& id, const std::vector<std::string>& task_ids) {
    const auto request = in_flight_.Open(*RequestId::From(id), std::make_shared<Unanswered>());
    subscriptions_.Open(Reply(in_flight_, request), &task_ids);
  }

  void End(const std::string& task_id) { store_.Finish(task_id, ToolResult{json::object(), {}}); }

  using json = nlohmann::json;
  const ServerInfo server_{"lima", "1"};
  RecordingTransport transport_;
  InFlight in_flight_{transport_};
  transcripts::FakeScheduler scheduler_;
  TaskStore store_{scheduler_, server_};
  Subscriptions subscriptions_{in_flight_, store_, server_};
  const testing::Matcher<std::string> acknowledgement_ =
      HasSubstr("notifications/subscriptions/acknowledged");
  const testing::Matcher<std::string> news_ = HasSubstr("notifications/tasks");
};

TEST_F(SubscriptionsTest, TellOfATaskThatHasEndedBefore) {
  const std::string task = store_.Create({});
  End(task);
  subscriptions_.TaskEnded(task);
  Listen("a", {task});
  EXPECT_THAT(transport_.lines, ElementsAre(acknowledgement_, news_));
}

TEST_F(SubscriptionsTest, TellOnceOfATaskThatEndsWhileTheyAreOpened) {
  const std::string task = store_.Create({});
  const std::string other = store_.Create({});
  End(task);
  Listen("a", {task, other});
  subscriptions_.TaskEnded(task);
  EXPECT_THAT(transport_.lines, ElementsAre(acknowledgement_, news_));
  End(other);
  subscriptions_.TaskEnded(other);
  EXPECT_THAT(transport_.lines, ElementsAre(acknowledgement_, news_, HasSubstr(other)));
}

TEST_F(SubscriptionsTest, AcceptATaskOnceHoweverOftenItIsNamed) {
  const std::string task = store_.Create({});
  Listen("a", std::vector<std::string>(100'000, task));
  EXPECT_THAT(transport_.lines, ElementsAre(HasSubstr("\"taskIds\":[\"" + task + "\"]")));
}

TEST_F(SubscriptionsTest, TellEachListener) {
  const std::string task = store_.Create({});
  Listen("a", {task});
  Listen("b", {task, task});
  End(task);
  subscriptions_.TaskEnded(task);
  EXPECT_THAT(transport_.lines, ElementsAre(acknowledgement_, acknowledgement_, news_, news_));
}

TEST_F(SubscriptionsTest, ShareTheResultThatTheyTellOf) {
  const std::string task = store_.Create({});
  for (const char* const id : {"a", "b", "c", "d"}) Listen(id, {task});
  const json output = {{"text", std::string(100'000, 'x')}};
  store_.Finish(task, ToolResult{output, {}});
  subscriptions_.TaskEnded(task);
  ASSERT_EQ(transport_.lines.size(), 8U);
  EXPECT_GT(transport_.lines.back().size(), 200'000U) << "as text and as JSON";
  EXPECT_LT(transport_.all.kept_bytes(), 250'000U);
  for (std::size_t i = 4; i < 8; ++i) EXPECT_TRUE(json::accept(transport_.lines[i])) << i;
}

TEST_F(SubscriptionsTest, AreRefusedWhereTheirIdIsTooLong) {
  const std::string longest(Subscriptions::kMaxIdBytes - 2, 'x');  // and two quotes
  Listen(longest + "x", {});
  EXPECT_THAT(transport_.lines, ElementsAre());
  Listen(longest, {});
  EXPECT_THAT(transport_.lines, ElementsAre(acknowledgement_));
}

TEST_F(SubscriptionsTest, AreRefusedBeyondTheLimitUntilOneIsWithdrawn) {
  for (std::size_t i = 0; i < Subscriptions::kMaxOpen; ++i) Listen(std::to_string(i), {});
  Listen("refused", {});
  EXPECT_EQ(transport_.lines.size(), Subscriptions::kMaxOpen);
  EXPECT_TRUE(in_flight_.Cancel(*RequestId::From("0")));
  Listen("later", {});
  EXPECT_EQ(transport_.lines.size(), Subscriptions::kMaxOpen + 1);
}

TEST_F(SubscriptionsTest, TellNothingOfATaskThatHasExpired) {
  const std::string task = store_.Create({});
  Listen("a", {task});
  End(task);
  scheduler_.Advance(TaskStore::kTimeToLive);
  subscriptions_.TaskEnded(task);
  EXPECT_THAT(transport_.lines, ElementsAre(acknowledgement_));
}

}  // namespace
}  // namespace mcp
