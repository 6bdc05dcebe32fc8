// SPDX-License-Identifier: Apache-2.0
#include "commands/checkpointer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/errors.h"
#include "testing/eventually.h"

namespace commands {
namespace {

using namespace std::chrono_literals;
using support::Clock;
using ::testing::ElementsAre;
using testing_support::Eventually;

class CheckpointerTest : public ::testing::Test {
 protected:
  static constexpr CheckpointTimes kQuick{
      .quiet = 20ms, .running = 10s, .limit = 10s, .delay = 10s, .pause = 0};

  void Begin(std::uint64_t number, const std::string& path) { Observe(number, path, nullptr); }
  void End(std::uint64_t number, const std::string& path) {
    const mcp::Outcome end{mcp::CallStatus::kSucceeded, ""};
    Observe(number, path, &end);
  }

  void Observe(std::uint64_t number, const std::string& path, const mcp::Outcome* end) {
    const nlohmann::json arguments = {{"path", path}};
    checkpointer->Observe({number, {}, "write_file", arguments}, end);
  }

  void Make(const CheckpointTimes& times) {
    checkpointer.emplace(
        "/p",
        [this](const std::string& note, const support::Context& context) {
          const std::scoped_lock lock(mutex);
          notes.push_back(note);
          made.push_back(Clock::now());
          if (on_make) on_make(context);
        },
        times);
  }

  std::size_t Count() {
    const std::scoped_lock lock(mutex);
    return notes.size();
  }

  std::mutex mutex;
  std::vector<std::string> notes;
  std::vector<Clock::time_point> made;
  std::function<void(const support::Context&)> on_make;
  std::optional<Checkpointer> checkpointer;
};

TEST_F(CheckpointerTest, MakesOneAfterTheLastOfSeveralCalls) {
  Make(kQuick);
  Begin(1, "/p/a");
  Begin(2, "/p/b");
  End(2, "/p/b");
  const auto end = Clock::now();
  End(1, "/p/a");
  ASSERT_TRUE(Eventually([&] { return Count() == 1; }));
  EXPECT_THAT(notes, ElementsAre("write_file a; write_file b"));
  EXPECT_GE(made.front(), end + kQuick.quiet);
}

TEST_F(CheckpointerTest, CountsALongCallAsEndedAndAgainAtItsEnd) {
  CheckpointTimes times = kQuick;
  times.running = 50ms;
  Make(times);
  const auto began = Clock::now();
  Begin(1, "/p/a");
  ASSERT_TRUE(Eventually([&] { return Count() == 1; }));
  EXPECT_GE(made.front(), began + times.running);
  End(1, "/p/a");
  ASSERT_TRUE(Eventually([&] { return Count() == 2; }));
  EXPECT_THAT(notes, ElementsAre("write_file a", "write_file a"));
}

TEST_F(CheckpointerTest, IgnoresTheEndOfCallsThatDidNotBegin) {
  Make(kQuick);
  End(1, "/p/read-only");
  Begin(2, "/p/a");
  End(2, "/p/a");
  ASSERT_TRUE(Eventually([&] { return Count() == 1; }));
  EXPECT_THAT(notes, ElementsAre("write_file a"));
}

TEST_F(CheckpointerTest, WaitsAfterOneForManyTimesAsLong) {
  constexpr auto kTook = 20ms;
  CheckpointTimes times = kQuick;
  times.pause = 10;
  on_make = [&](const support::Context&) { std::this_thread::sleep_for(kTook); };
  Make(times);
  for (std::uint64_t number = 1; number <= 2; ++number) {
    Begin(number, "/p/a");
    End(number, "/p/a");
    ASSERT_TRUE(Eventually([&] { return Count() == number; }));
  }
  EXPECT_GE(made[1] - made[0], times.pause * kTook);
}

TEST_F(CheckpointerTest, DelaysACallThatBeginsMeanwhileOnlySoLong) {
  CheckpointTimes times = kQuick;
  times.delay = 50ms;
  on_make = [&](const support::Context& context) { support::Pause(200ms, context); };
  Make(times);
  Begin(1, "/p/a");
  End(1, "/p/a");
  ASSERT_TRUE(Eventually([&] {
    const std::unique_lock lock(mutex, std::try_to_lock);
    return !lock;  // one is being made
  }));
  const auto began = Clock::now();
  Begin(2, "/p/b");
  EXPECT_GE(Clock::now() - began, 40ms);
  EXPECT_LT(Clock::now() - began, 190ms);
}

TEST_F(CheckpointerTest, MakesNoMoreAfterOneThatTookTooLong) {
  CheckpointTimes times = kQuick;
  times.limit = 20ms;
  on_make = [](const support::Context& context) { support::Pause(10s, context); };
  Make(times);
  ::testing::internal::CaptureStderr();
  Begin(1, "/p/a");
  End(1, "/p/a");
  ASSERT_TRUE(Eventually([&] { return Count() == 1; }));
  Begin(2, "/p/b");  // waits for the first
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("took too long, so this server makes no more"));
}

TEST_F(CheckpointerTest, GoesOnAfterAFailure) {
  on_make = [](const support::Context&) { throw support::Error("the disk is full"); };
  Make(kQuick);
  for (std::uint64_t number = 1; number <= 2; ++number) {
    Begin(number, "/p/a");
    End(number, "/p/a");
    ASSERT_TRUE(Eventually([&] { return Count() == number; }));
  }
}

TEST_F(CheckpointerTest, StopsOneThatIsBeingMadeWhenItEnds) {
  on_make = [](const support::Context& context) { support::Pause(60s, context); };
  Make(kQuick);
  Begin(1, "/p/a");
  End(1, "/p/a");
  ASSERT_TRUE(Eventually([&] {
    const std::unique_lock lock(mutex, std::try_to_lock);
    return !lock;
  }));
  const auto began = Clock::now();
  checkpointer.reset();
  EXPECT_LT(Clock::now() - began, 10s);
}

TEST(DescribeCall, IsOneLineOfAtMostSixtyBytes) {
  const auto described = [](const std::string& tool, const nlohmann::json& arguments) {
    return DescribeCall({1, {}, tool, arguments}, "/p");
  };
  EXPECT_EQ(described("replace", {{"path", "/p/src/a.ts"}}), "replace src/a.ts");
  EXPECT_EQ(described("replace", {{"path", "/project/a"}}), "replace /project/a");
  EXPECT_EQ(described("write_process", {{"id", "p1"}}), "write_process");
  EXPECT_EQ(described("run_shell_command", {{"command", {"npm", "test"}}}), "\"npm test\"");
  EXPECT_EQ(described("run_shell_command", {{"command", {std::string(60, 'x')}}}),
            '"' + std::string(60, 'x') + '"');
  EXPECT_EQ(described("run_shell_command", {{"command", {std::string(61, 'x')}}}),
            '"' + std::string(57, 'x') + "...\"");
  EXPECT_EQ(described("write_file", {{"path", "a\nb\x1b"}}), "write_file a\\x0ab\\x1b");
}

}  // namespace
}  // namespace commands
