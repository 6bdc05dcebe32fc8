#include "mcp/tasks.h"

#include <gtest/gtest.h>

#include <set>

#include "fake_heartbeat.h"
#include "mcp/json_writer.h"

namespace mcp {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxResultBytes = 100'000;

class TaskStoreTest : public ::testing::Test {
 protected:
  json Describe(const std::string& id) {
    std::string text;
    ObjectWriter object(text);
    store_.Describe(object, id);
    object.End();
    return json::parse(text);
  }

  transcripts::FakeHeartbeat heartbeat_;
  TaskStore store_{heartbeat_, {"lima", "1"}, kMaxResultBytes};
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
  // It is there twice, as structured content and as text.
  store_.Finish(id,
                ToolResult{StructuredContent{json(std::string(kMaxResultBytes / 2, 'x')).dump()}});
  EXPECT_TRUE(store_.Create({}).empty());
  EXPECT_EQ(Describe(id)["status"], "completed");
  heartbeat_.Advance(TaskStore::kTimeToLive);
  EXPECT_FALSE(store_.Create({}).empty());
  EXPECT_THROW(Describe(id), ProtocolError);
}

TEST_F(TaskStoreTest, ATaskThatEndsLateCanStillBeFetched) {
  const std::string id = store_.Create({});
  heartbeat_.Advance(TaskStore::kTimeToLive * 2);
  store_.Finish(id, ToolResult{});
  EXPECT_EQ(Describe(id)["status"], "completed");
  heartbeat_.Advance(TaskStore::kTimeToFetch - std::chrono::milliseconds(1));
  EXPECT_EQ(Describe(id)["status"], "completed");
  heartbeat_.Advance(std::chrono::milliseconds(1));
  EXPECT_THROW(Describe(id), ProtocolError);
}

TEST_F(TaskStoreTest, ATaskThatStillWorksDoesNotExpire) {
  const std::string id = store_.Create({});
  heartbeat_.Advance(TaskStore::kTimeToLive * 2);
  EXPECT_EQ(Describe(id)["status"], "working");
}

TEST_F(TaskStoreTest, CancelStopsTheWorkAndTheWorkDecides) {
  support::StopSource work;
  const std::string id = store_.Create(work);
  store_.Cancel(id);
  EXPECT_EQ(work.context().stop_reason(), support::StopReason::kCancelled);
  EXPECT_EQ(Describe(id)["status"], "working");
  store_.Finish(id, ToolResult{});
  EXPECT_EQ(Describe(id)["status"], "completed");
}

TEST_F(TaskStoreTest, DatesAreThoseOfTheChanges) {
  const std::string id = store_.Create({});
  heartbeat_.Advance(std::chrono::milliseconds(61'005));
  store_.Finish(id, ToolResult{});
  EXPECT_EQ(Describe(id)["createdAt"], "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(Describe(id)["lastUpdatedAt"], "2026-01-01T00:01:01.005Z");
}

}  // namespace
}  // namespace mcp
