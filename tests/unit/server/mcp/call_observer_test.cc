// SPDX-License-Identifier: Apache-2.0
// What an observer learns of a call is what its client gets.

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mcp/outcome.h"
#include "unit/server/mcp/server_session.h"

namespace mcp {
namespace {

using nlohmann::json;

struct Event {
  std::uint64_t number;
  std::string what;  ///< the tool, and what happened
  std::string error;
};

class Recorder {
 public:
  void Record(const ObservedCall& call, const Outcome* end) {
    constexpr const char* kNames[] = {"succeeded", "failed", "refused", "cancelled"};
    const std::string what = end == nullptr ? "started" : kNames[static_cast<int>(end->status)];
    const std::scoped_lock lock(mutex_);
    events_.push_back({call.number, std::string(call.tool) + " " + what,
                       end == nullptr ? std::string() : end->error});
  }

  std::vector<Event> Take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(events_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Event> events_;
};

class CallObserverTest : public ::testing::Test {
 protected:
  CallObserverTest() { session_.Initialize(); }

  Recorder recorder_;  // outlives the server
  Session session_{[this](ServerOptions& options) {
    options.observer = std::bind_front(&Recorder::Record, &recorder_);
  }};
};

TEST_F(CallObserverTest, EveryOutcomeIsRecordedAsItIsSentAndBeforeThat) {
  struct Case {
    std::string tool;
    json arguments;
    std::vector<std::string> events;
  };
  const std::vector<Case> cases = {
      {"echo", {{"text", "a"}}, {"echo succeeded"}},  // read-only
      {"release", {{"name", "a"}}, {"release started", "release succeeded"}},
      {"fail", {{"how", "call_error"}}, {"fail started", "fail failed"}},
      {"fail", {{"how", "timeout"}}, {"fail started", "fail failed"}},
      {"fail", {{"how", "protocol_error"}}, {"fail started", "fail failed"}},
      {"fail", {{"how", "exception"}}, {"fail started", "fail failed"}},
      {"big", {{"bytes", kMaxMessageBytes}}, {"big started", "big failed"}},
      {"echo", {{"text", 5}}, {"echo refused"}},
      {"nope", {{"a", 1}}, {"nope refused"}},
  };
  std::uint64_t number = 0;
  for (const Case& expected : cases) {
    SCOPED_TRACE(expected.tool + expected.arguments.dump());
    ++number;
    session_.Call(1, expected.tool, expected.arguments);
    const json response = session_.Read();
    std::vector<std::string> events;
    std::string error;
    for (const Event& event : recorder_.Take()) {
      EXPECT_EQ(event.number, number);
      events.push_back(event.what);
      error = event.error;
    }
    EXPECT_EQ(events, expected.events);
    std::string sent;
    if (response.contains("error")) {
      sent = response["error"]["message"];
    } else if (response["result"].value("isError", false)) {
      sent = response["result"]["content"][0]["text"];
    }
    EXPECT_EQ(error, sent);
  }
}

TEST_F(CallObserverTest, ACancelledCallIsRecordedOnce) {
  session_.Call(1, "block", {{"name", "a"}});
  session_.Call(2, "await_started", {{"name", "a"}});
  session_.Read();
  session_.Send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})"
                "\n");
  session_.CloseInput();
  EXPECT_TRUE(session_.ReadToTheEnd().empty());
  std::vector<std::string> of_block;
  for (const Event& event : recorder_.Take()) {
    if (event.number == 1) of_block.push_back(event.what);
  }
  EXPECT_EQ(of_block, (std::vector<std::string>{"block started", "block cancelled"}));
}

}  // namespace
}  // namespace mcp
