// SPDX-License-Identifier: Apache-2.0
// The whole server under stress, and what needs a tool for tests. tests/suites test what it sends.

#include "mcp/server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "unit/server/mcp/server_session.h"

namespace mcp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

/// Answers of two MiB that are more than the output has room for.
constexpr int kMoreThanFits = 50;

// ---- many requests

TEST(Server, AClientMayWriteMuchBeforeItReads) {
  Session session;
  constexpr int kPings = 20'000;
  for (int i = 0; i < kPings; ++i) {
    session.Send(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + ",\"method\":\"ping\"}\n");
  }
  for (int i = 0; i < kPings; ++i) EXPECT_EQ(session.Read()["id"], i);
}

TEST(Server, ThousandsOfCallsInFlightAreAllAnsweredOnce) {
  Session session;
  session.Initialize();
  constexpr int kCalls = 5'000;
  for (int i = 0; i < kCalls; ++i) session.Call(i, "block", {{"name", "a"}});
  session.ExpectPingIsAnswered();
  session.CloseInput();
  std::set<int> ids;
  for (const json& message : session.ReadToTheEnd()) {
    ASSERT_TRUE(message.contains("result")) << message;
    EXPECT_TRUE(message["result"]["isError"]);
    EXPECT_TRUE(ids.insert(message["id"].get<int>()).second);
  }
  EXPECT_EQ(ids.size(), std::size_t{kCalls});
  const Server::Exit exit = session.Exit();
  EXPECT_EQ(exit.reason, support::StopReason::kEndOfInput);
  EXPECT_TRUE(exit.all_calls_ended);
}

TEST(Server, NoMessageWithAResultIsLongerThanTheLimit) {
  Session session;
  session.Initialize();
  session.Call(1, "big", {{"bytes", kMaxMessageBytes / 2 - 1024}});
  const std::string whole = session.ReadLine().value_or("");
  EXPECT_GT(whole.size(), kMaxMessageBytes - 4096);
  EXPECT_LE(whole.size(), kMaxMessageBytes);
  session.Call(2, "big", {{"bytes", kMaxMessageBytes / 2}});
  EXPECT_TRUE(session.Read()["result"]["isError"]);
}

TEST(Server, ThousandsOfCallsCanBeCancelled) {
  Session session;
  session.Initialize();
  constexpr int kCalls = 2'000;
  for (int i = 0; i < kCalls; ++i) session.Call(i, "block", {{"name", "a" + std::to_string(i)}});
  for (int i = 0; i < kCalls; ++i) {
    session.Send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
                 std::to_string(i) + "}}\n");
  }
  session.Call(1, "echo", {{"text", "after"}});
  EXPECT_EQ(session.Read()["result"]["structuredContent"]["text"], "after");
}

// ---- progress

TEST(Server, ProgressHasTheLastStatusAtMostOnceASecondIfAskedFor) {
  struct Case {
    json token;
    std::vector<std::string> statuses;
    double seconds_between;
    std::vector<std::pair<double, std::string>> sent;
  };
  const std::vector<Case> cases = {
      {1, {"a", "b", "c", "d", "e", "f", "g"}, 0.4, {{1.2, "c (1s)"}, {2.4, "f (2s)"}}},
      {"té", {"a", "b", "c"}, 1.5, {{1.5, "a (1s)"}, {3.0, "b (3s)"}, {4.5, "c (4s)"}}},
      {18446744073709551615U, {"a"}, 1, {{1.0, "a (1s)"}}},
      {0, {"a"}, 1, {{1.0, "a (1s)"}}},
      {nullptr, {"a", "b"}, 2, {}},
  };
  Session session;
  session.Initialize();
  for (const Case& call : cases) {
    session.Call(1, "report",
                 {{"messages", call.statuses}, {"seconds_between", call.seconds_between}},
                 call.token);
    for (const auto& [progress, message] : call.sent) {
      EXPECT_EQ(
          session.Read()["params"],
          (json{{"progressToken", call.token}, {"progress", progress}, {"message", message}}));
    }
    EXPECT_EQ(session.Read()["id"], 1);
  }
}

TEST(Server, ACallThatWaitsForAThreadReportsThat) {
  Session session([](ServerOptions& options) { options.limits = {.quick = 1}; });
  session.Initialize();
  session.Call(1, "block", {{"name", "a"}});
  session.Call(2, "echo", {{"text", "b"}}, "t");
  session.ExpectPingIsAnswered();  // the call has arrived
  for (const std::string elapsed : {"1s", "2s"}) {
    session.AdvanceTime(1s);
    const json message = session.Read();
    EXPECT_EQ(message["method"], "notifications/progress");
    EXPECT_EQ(message["params"]["progressToken"], "t");
    EXPECT_EQ(message["params"]["message"],
              "waiting for its turn behind other calls (" + elapsed + ")");
  }
}

TEST(Server, ProgressIsSentEverySecond) {
  Session session([](ServerOptions& options) { options.now = support::Clock::now; });
  session.Initialize();
  const auto begin = support::Clock::now();
  for (const std::string name : {"a", "b"}) {
    session.Call(1, "block", {{"name", name}}, "t");
    for (int i = 0; i < 2; ++i) EXPECT_EQ(session.Read()["method"], "notifications/progress");
    session.Call(2, "release", {{"name", name}});
    for (int answers = 0; answers < 2;) answers += session.Read().contains("result") ? 1 : 0;
  }
  EXPECT_GE(support::Clock::now() - begin, 4s);
}

TEST(Server, NoProgressForAClientThatDoesNotRead) {
  Session session([](ServerOptions& options) { options.max_unread = 1; });
  session.Initialize();
  session.Call(1, "block", {{"name", "a"}}, "t");
  session.ExpectPingIsAnswered();
  session.AdvanceTime(1s);
  EXPECT_EQ(session.Read()["method"], "notifications/progress");
  session.Call(2, "big", {{"bytes", kMiB}});
  session.WaitForOutput();  // its beginning fills the pipe
  session.AdvanceTime(1s);
  EXPECT_EQ(session.Read()["id"], 2);
  // Now there is room; the server looks for progress every second.
  EXPECT_EQ(session.Read()["method"], "notifications/progress");
}

// ---- the end

TEST(Server, StopFromAnotherThreadEndsCallsWithItsReason) {
  Session session;
  session.Initialize();
  session.Call(1, "block", {{"name", "a"}});
  session.Call(2, "await_started", {{"name", "a"}});
  session.Read();
  session.server().Stop(support::StopReason::kTerminated);
  EXPECT_NE(session.Read().dump().find("told to terminate"), std::string::npos);
  EXPECT_EQ(session.Exit().reason, support::StopReason::kTerminated);
}

TEST(Server, StopBeforeServeEndsItAtOnce) {
  const support::Pipe pipe;
  Server server({}, {}, pipe.read_end.get(), pipe.write_end.get());
  server.Stop(support::StopReason::kTerminated);
  EXPECT_EQ(server.Serve().reason, support::StopReason::kTerminated);
}

TEST(Server, AToolThatDoesNotStopDelaysOnlyTheDestructor) {
  std::promise<void> begun;
  std::promise<void> release;
  std::atomic<bool> ended = false;
  ServerOptions options;
  options.end_of_input_grace = 1ms;
  options.stop_grace = 1ms;
  // Runs until the test releases it, even if its context is stopped.
  const auto deaf = [&](const ToolCall& call) -> ToolResult {
    begun.set_value();
    release.get_future().wait();
    call.progress.SetStatus("released");
    ended = true;
    return {};
  };
  const Tool tool = {{.name = "deaf", .input_schema = json::object()}, deaf};
  support::Pipe input;
  support::Pipe output;
  auto server = std::make_unique<Server>(options, std::vector{tool}, input.read_end.get(),
                                         output.write_end.get());
  constexpr std::string_view kCalls =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n"
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call",)"
      R"("params":{"name":"deaf","_meta":{"progressToken":1}}})"
      "\n";
  ASSERT_EQ(::write(input.write_end.get(), kCalls.data(), kCalls.size()), ssize_t{kCalls.size()});
  // A call that has no thread yet when the grace is over ends at once.
  std::thread client([&] {
    begun.get_future().wait();
    input.write_end.Close();
  });
  EXPECT_FALSE(server->Serve().all_calls_ended);
  client.join();
  release.set_value();
  server.reset();
  EXPECT_TRUE(ended);
}

TEST(Server, AClosedOutputEndsItAlthoughInputIsOpenOrUnread) {
  for (const bool is_full : {false, true}) {
    Session session;
    session.Initialize();
    for (int i = 0; is_full && i < kMoreThanFits; ++i) session.Call(i, "big", {{"bytes", kMiB}});
    if (is_full) session.CloseInput();
    session.CloseOutput();
    const Server::Exit exit = session.Exit();
    EXPECT_EQ(exit.reason, support::StopReason::kEndOfInput);
    EXPECT_TRUE(exit.all_calls_ended);
  }
}

TEST(Server, AReaderThatStopsReadingDoesNotHoldUpTheEnd) {
  Session session([](ServerOptions& options) { options.client_timeout = 1ms; },
                  Session::Output::kLeftOpen);
  session.Initialize();
  for (int i = 0; i < kMoreThanFits; ++i) session.Call(i, "big", {{"bytes", kMiB}});
  session.server().Stop(support::StopReason::kTerminated);
  EXPECT_TRUE(session.Exit().all_calls_ended);
}

TEST(Server, AClientThatReadsAfterItsInputEndedGetsAllAnswers) {
  Session session;
  session.Initialize();
  for (int i = 0; i < kMoreThanFits; ++i) session.Call(i, "big", {{"bytes", kMiB}});
  session.CloseInput();
  int answers = 0;
  while (const auto line = session.ReadLine()) {
    // Not parsed, which takes seconds without optimisation.
    EXPECT_TRUE(line->starts_with(R"({"jsonrpc":"2.0","id":)") && line->ends_with("}"));
    ++answers;
  }
  EXPECT_EQ(answers, kMoreThanFits);
}

TEST(Server, FirstMessageIsReportedOnce) {
  std::atomic<int> reported = 0;
  Session session([&reported](ServerOptions& options) {
    options.on_first_message = [&reported] { ++reported; };
  });
  session.Send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
  session.ExpectPingIsAnswered();
  session.ExpectPingIsAnswered();
  session.ExpectPingIsAnswered();
  EXPECT_EQ(reported, 1);
}

}  // namespace
}  // namespace mcp
