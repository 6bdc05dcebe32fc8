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
  void Deliver(Line) override {}
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

TEST_F(SubscriptionsTest, TellEachListener) {
  const std::string task = store_.Create({});
  Listen("a", {task});
  Listen("b", {task, task});
  End(task);
  subscriptions_.TaskEnded(task);
  EXPECT_THAT(transport_.lines, ElementsAre(acknowledgement_, acknowledgement_, news_, news_));
}

}  // namespace
}  // namespace mcp
