#include "mcp/tasks.h"

#include <gtest/gtest.h>

#include <future>
#include <set>
#include <stdexcept>
#include <vector>

#include "fake_scheduler.h"
#include "mcp/json_writer.h"
#include "mcp/scheduler.h"
#include "testing/no_more_threads.h"

namespace mcp {
namespace {

using nlohmann::json;

class TaskStoreTest : public ::testing::Test {
 protected:
  json Describe(const std::string& id) {
    std::string text;
    ObjectWriter object(text);
    store_.Describe(object, id);
    object.End();
    return json::parse(text);
  }

  transcripts::FakeScheduler scheduler_;
  TaskStore store_{scheduler_, {"lima", "1"}};
};

TEST_F(TaskStoreTest, IdsAre128RandomBits) {
  std::set<std::string> ids;
  for (int i = 0; i < 50; ++i) {
    const std::string id = store_.Create({});
    EXPECT_EQ(id.size(), 32U);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos);
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 50U);
}

TEST_F(TaskStoreTest, ThereIsNoRoomForMoreThanTheLimit) {
  for (std::size_t i = 0; i < TaskStore::kMaxTasks; ++i) EXPECT_FALSE(store_.Create({}).empty());
  EXPECT_TRUE(store_.Create({}).empty());
}

TEST_F(TaskStoreTest, LargeResultsLeaveNoRoomUntilTheyExpire) {
  const std::string id = store_.Create({});
  store_.Finish(id, ToolResult{std::string(TaskStore::kMaxResultBytes / 2, 'x'), {}});
  EXPECT_TRUE(store_.Create({}).empty());
  EXPECT_EQ(Describe(id)["status"], "completed");
  scheduler_.Advance(TaskStore::kTimeToLive);
  EXPECT_FALSE(store_.Create({}).empty());
  EXPECT_THROW(Describe(id), ProtocolError);
}

TEST_F(TaskStoreTest, ResultsThatEndTogetherAreBoundedToo) {
  std::vector<std::string> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(store_.Create({}));
  // Each is there twice, as structured content and as text.
  const ToolResult large{std::string(TaskStore::kMaxResultBytes / 3, 'x'), {}};
  for (const std::string& id : ids) store_.Finish(id, large);
  EXPECT_FALSE(Describe(ids[0])["result"].contains("isError"));
  EXPECT_FALSE(Describe(ids[1])["result"].contains("isError")) << "the first beyond the limit";
  for (const std::string& id : {ids[2], ids[3]}) {
    EXPECT_EQ(Describe(id)["status"], "completed");
    EXPECT_NE(Describe(id)["result"].dump().find("was not kept"), std::string::npos);
  }
  scheduler_.Advance(TaskStore::kTimeToLive);
  const std::string later = store_.Create({});
  store_.Finish(later, large);
  EXPECT_FALSE(Describe(later)["result"].contains("isError"));
}

TEST_F(TaskStoreTest, ASmallResultIsKeptWhateverTheOthersTake) {
  const std::vector<std::string> ids = {store_.Create({}), store_.Create({})};
  store_.Finish(ids[0], ToolResult{std::string(TaskStore::kMaxResultBytes, 'x'), {}});
  store_.Finish(ids[1], ToolResult{{{"exit_code", 0}}, {}});
  EXPECT_EQ(Describe(ids[1])["result"]["structuredContent"]["exit_code"], 0);
}

TEST_F(TaskStoreTest, ATaskThatEndsLateCanStillBeFetched) {
  const std::string id = store_.Create({});
  scheduler_.Advance(TaskStore::kTimeToLive * 2);
  store_.Finish(id, ToolResult{json::object(), {}});
  EXPECT_EQ(Describe(id)["status"], "completed");
  scheduler_.Advance(TaskStore::kTimeToFetch - std::chrono::milliseconds(1));
  EXPECT_EQ(Describe(id)["status"], "completed");
  scheduler_.Advance(std::chrono::milliseconds(1));
  EXPECT_THROW(Describe(id), ProtocolError);
}

TEST_F(TaskStoreTest, ATaskThatStillWorksDoesNotExpire) {
  const std::string id = store_.Create({});
  scheduler_.Advance(TaskStore::kTimeToLive * 2);
  EXPECT_EQ(Describe(id)["status"], "working");
}

TEST_F(TaskStoreTest, CancelStopsTheWorkAndTheWorkDecides) {
  support::StopSource work;
  const std::string id = store_.Create(work);
  store_.Cancel(id);
  EXPECT_EQ(work.context().stop_reason(), support::StopReason::kCancelled);
  EXPECT_EQ(Describe(id)["status"], "working");
  store_.Finish(id, ToolResult{json::object(), {}});
  EXPECT_EQ(Describe(id)["status"], "completed");
}

TEST_F(TaskStoreTest, DatesAreThoseOfTheChanges) {
  const std::string id = store_.Create({});
  scheduler_.Advance(std::chrono::milliseconds(61'005));
  store_.Finish(id, ToolResult{json::object(), {}});
  EXPECT_EQ(Describe(id)["createdAt"], "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(Describe(id)["lastUpdatedAt"], "2026-01-01T00:01:01.005Z");
}

TEST(ThreadScheduler, RunsTasksInTheOrderOfTheirTimes) {
  std::vector<int> order;
  std::promise<void> done;
  ThreadScheduler scheduler;
  const support::Clock::time_point now = scheduler.Now();
  scheduler.RunAt(now + std::chrono::milliseconds(20), [&] {
    order.push_back(2);
    done.set_value();
  });
  scheduler.RunAt(now + std::chrono::milliseconds(10), [&] { order.push_back(1); });
  done.get_future().wait();
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST(ThreadScheduler, ATaskThatThrowsEndsNothingButItself) {
  std::promise<void> done;
  ThreadScheduler scheduler;
  const support::Clock::time_point now = scheduler.Now();
  scheduler.RunAt(now, [] { throw std::runtime_error("no random bits"); });
  scheduler.RunAt(now + std::chrono::milliseconds(1), [&done] { done.set_value(); });
  done.get_future().wait();
}

TEST(ThreadScheduler, RunsWhatWasGivenWhenThereWasNoThreadOnceThereIsOne) {
  std::promise<void> done;
  ThreadScheduler scheduler;
  {
    const testing_support::NoMoreThreads none;
    if (!none.imposed()) GTEST_SKIP() << "this system's threads cannot be limited";
    scheduler.RunAt(scheduler.Now(), [&done] { done.set_value(); });
  }
  scheduler.RunAt(scheduler.Now(), [] {});
  done.get_future().wait();
}

TEST(ThreadScheduler, EndsWithoutWaitingForWhatIsToCome) {
  ThreadScheduler scheduler;
  scheduler.RunAt(scheduler.Now() + std::chrono::hours(1), [] { FAIL(); });
}

TEST(ThreadScheduler, RunsNothingThatIsGivenAfterItsEnd) {
  ThreadScheduler scheduler;
  scheduler.End();
  scheduler.RunAt(scheduler.Now(), [] { FAIL(); });
}

}  // namespace
}  // namespace mcp
