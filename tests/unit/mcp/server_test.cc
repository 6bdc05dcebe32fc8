// The server as a whole under rough treatment. What it says is in tests/transcripts.

#include "mcp/server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "fake_tools.h"
#include "testing/eventually.h"
#include "unit/mcp/recording_transport.h"
#include "unit/mcp/server_session.h"

namespace mcp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using transcripts::FakeScheduler;

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
  EXPECT_TRUE(session.Exit().all_calls_ended);
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

TEST(Server, MoreCallsThanMayWaitAreToldSo) {
  Session session(
      [](ServerOptions& options) { options.limits = {.threads = 2, .queued_calls = 2}; });
  session.Initialize();
  session.Call(1, "block", {{"name", "a"}});
  session.Call(2, "await_started", {{"name", "a"}});
  session.Read();
  session.Call(3, "block", {{"name", "b"}});
  // One thread is left; whether the third has it already or still waits, not all of these fit.
  for (int i = 4; i < 8; ++i) session.Call(i, "block", {{"name", "c"}});
  const json answer = session.Read();
  EXPECT_TRUE(answer["result"]["isError"]);
  EXPECT_NE(answer.dump().find("too many calls"), std::string::npos);
}

TEST(Server, ACallThatWaitsForAThreadSaysSoToAClientThatAsksForProgress) {
  Session session([](ServerOptions& options) { options.limits = {.threads = 1}; });
  session.Initialize();
  session.Call(1, "block", {{"name", "a"}});
  session.Send(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo",)"
               R"("arguments":{"text":"b"},"_meta":{"progressToken":"t"}}})"
               "\n");
  session.ExpectPingIsAnswered();  // so that the call has come
  const auto advance = [&session] {
    session.scheduler().Advance(1s);
    session.Send("{\"jsonrpc\":\"2.0\",\"id\":\"ping\",\"method\":\"ping\"}\n");
    return session.Read();
  };
  json message;
  // As long as the thread is on its way to the first call, nobody waits behind that.
  ASSERT_TRUE(testing_support::Eventually([&] {
    message = advance();
    return message.contains("method");
  }));
  EXPECT_EQ(message["method"], "notifications/progress");
  EXPECT_EQ(message["params"]["progressToken"], "t");
  EXPECT_EQ(message["params"]["message"], "waiting for its turn behind other calls");
  EXPECT_EQ(session.Read()["id"], "ping");
  EXPECT_EQ(advance()["params"]["message"], "waiting for its turn behind other calls");
}

// ---- the end

TEST(Server, EndOfInputWithCallsRunningEndsPromptly) {
  Session session;
  session.Initialize();
  session.Call(1, "block", {{"name", "a"}});
  session.CloseInput();
  const Server::Exit exit = session.Exit();
  EXPECT_EQ(exit.reason, support::StopReason::kEndOfInput);
  EXPECT_TRUE(exit.all_calls_ended);
}

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
  FakeScheduler scheduler;
  Server server(transcripts::FakeServerOptions(scheduler), {});
  server.Stop(support::StopReason::kTerminated);
  std::array<int, 2> pipe = {};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  EXPECT_EQ(server.Serve(pipe[0], pipe[1]).reason, support::StopReason::kTerminated);
  ::close(pipe[0]);
  ::close(pipe[1]);
}

/// A tool that runs until the test lets it go, whatever its context says.
class DeafTool : public Tool {
 public:
  DeafTool(std::promise<void>& begun, std::shared_future<void> release, std::atomic<bool>& ended)
      : begun_(begun), release_(std::move(release)), ended_(ended) {}
  [[nodiscard]] const ToolDefinition& definition() const override { return definition_; }
  ToolResult Call(const ToolCall& call) override {
    begun_.set_value();
    release_.wait();
    call.progress.Report("let go");
    ended_ = true;
    return {json::object(), {}};
  }

 private:
  const ToolDefinition definition_ = {.name = "deaf",
                                      .title = "",
                                      .description = "",
                                      .input_schema = json::object(),
                                      .output_schema = nullptr,
                                      .annotations = json::object(),
                                      .meta = nullptr};
  std::promise<void>& begun_;
  const std::shared_future<void> release_;
  std::atomic<bool>& ended_;
};

TEST(Server, AToolThatDoesNotStopHoldsUpNothingButTheDestructor) {
  std::promise<void> begun;
  std::promise<void> release;
  std::atomic<bool> ended = false;
  ServerOptions options;
  options.end_of_input_grace = 1ms;
  options.stop_grace = 1ms;
  std::vector<std::unique_ptr<Tool>> tools;
  tools.push_back(std::make_unique<DeafTool>(begun, release.get_future().share(), ended));
  auto server = std::make_unique<Server>(options, std::move(tools));
  std::array<int, 2> input = {};
  std::array<int, 2> output = {};
  ASSERT_EQ(::pipe(input.data()), 0);
  ASSERT_EQ(::pipe(output.data()), 0);
  constexpr std::string_view kCalls =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n"
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call",)"
      R"("params":{"name":"deaf","_meta":{"progressToken":1}}})"
      "\n";
  ASSERT_EQ(::write(input[1], kCalls.data(), kCalls.size()), ssize_t{kCalls.size()});
  // A call that has no thread yet when the grace is over ends at once.
  std::thread client([&] {
    begun.get_future().wait();
    ::close(input[1]);
  });
  EXPECT_FALSE(server->Serve(input[0], output[1]).all_calls_ended);
  client.join();
  release.set_value();
  server.reset();
  EXPECT_TRUE(ended);
  for (const int fd : {input[0], output[0], output[1]}) ::close(fd);
}

TEST(Server, AClosedOutputEndsItAlthoughInputIsOpen) {
  Session session;
  session.Initialize();
  session.Call(1, "block", {{"name", "a"}});
  session.CloseOutput();
  const Server::Exit exit = session.Exit();
  EXPECT_EQ(exit.reason, support::StopReason::kEndOfInput);
  EXPECT_TRUE(exit.all_calls_ended);
}

TEST(Server, AReaderThatStopsReadingDoesNotHoldUpTheEnd) {
  Session session([](ServerOptions& options) { options.flush_grace = 1ms; },
                  Session::Output::kLeftOpen);
  session.Initialize();
  for (int i = 0; i < 100; ++i) session.Call(i, "big", {{"bytes", kMiB}});
  session.server().Stop(support::StopReason::kTerminated);
  EXPECT_TRUE(session.Exit().all_calls_ended);
}

TEST(Server, AReaderThatStopsReadingAndWritingIsTheEnd) {
  Session session(
      [](ServerOptions& options) {
        options.flush_grace = 1ms;
        options.client_patience = 1ms;
      },
      Session::Output::kLeftOpen);
  session.Initialize();
  for (int i = 0; i < 100; ++i) session.Call(i, "big", {{"bytes", kMiB}});
  session.CloseInput();
  EXPECT_EQ(session.Exit().reason, support::StopReason::kEndOfInput);
}

TEST(Server, AClientThatReadsAfterItsInputEndedGetsAllAnswers) {
  Session session([](ServerOptions& options) { options.flush_grace = 1ms; });
  session.Initialize();
  for (int i = 0; i < 30; ++i) session.Call(i, "big", {{"bytes", kMiB}});
  session.CloseInput();
  const std::vector<json> answers = session.ReadToTheEnd();
  EXPECT_EQ(answers.size(), 30U) << "one by one, each longer than the grace";
}

/// A client that has ended its input and takes something again and again, but never all.
class SlowClient final : public Transport {
 public:
  explicit SlowClient(std::function<void()> on_flush) : on_flush_(std::move(on_flush)) {}
  Received Receive(std::string&) override { return Received::kEndOfInput; }
  void Send(Line) override {}
  [[nodiscard]] bool HasRoom() const override { return true; }
  void WaitForRoom() override {}
  void Interrupt() override {}
  void GiveUpWaiting() override {}
  [[nodiscard]] std::uint64_t BytesTaken() const override { return taken_; }
  bool Flush(std::chrono::steady_clock::time_point) override {
    ++taken_;
    on_flush_();
    return false;
  }

 private:
  const std::function<void()> on_flush_;
  std::uint64_t taken_ = 0;
};

TEST(Server, StopEndsTheWaitForAClientThatReadsSlowly) {
  ServerOptions options;
  options.flush_grace = 0ms;
  Server server(options, {});
  int flushes = 0;
  const Server::Exit exit = server.Serve(std::make_unique<SlowClient>([&] {
    if (++flushes == 3) server.Stop(support::StopReason::kTerminated);
  }));
  EXPECT_EQ(flushes, 3);
  EXPECT_EQ(exit.reason, support::StopReason::kEndOfInput);
}

TEST(Server, AMessageForWhichThereIsNoMemoryIsAnsweredAndSurvived) {
  auto transport = std::make_unique<RecordingTransport>();
  const RecordingTransport& client = *transport;
  transport->input = {"no JSON", R"({"jsonrpc":"2.0","id":1,"method":"ping"})"};
  transport->has_memory = false;
  Server server(ServerOptions(), {});
  server.Serve(std::move(transport));
  ASSERT_EQ(client.lines.size(), 2U);
  EXPECT_EQ(json::parse(client.lines[0])["error"]["code"], -32603) << client.lines[0];
  EXPECT_EQ(json::parse(client.lines[1])["id"], 1);
}

TEST(Server, ServesOnce) {
  Server server(ServerOptions(), {});
  server.Serve(std::make_unique<RecordingTransport>());
  EXPECT_THROW(server.Serve(std::make_unique<RecordingTransport>()), std::logic_error);
}

TEST(Server, FirstResponseIsToldOnceAndNotForNotifications) {
  std::atomic<int> told = 0;
  Session session(
      [&told](ServerOptions& options) { options.on_first_response = [&told] { ++told; }; });
  session.Send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
  session.ExpectPingIsAnswered();
  session.ExpectPingIsAnswered();
  session.ExpectPingIsAnswered();
  EXPECT_EQ(told, 1);
}

TEST(Server, RefusesAToolWhoseSchemaItCannotCheckAndNamesIt) {
  class UncheckedTool final : public Tool {
   public:
    [[nodiscard]] const ToolDefinition& definition() const override { return definition_; }
    ToolResult Call(const ToolCall&) override { return {json::object(), {}}; }

   private:
    const ToolDefinition definition_ = {.name = "unchecked",
                                        .title = "",
                                        .description = "",
                                        .input_schema = {{"pattern", "x"}},
                                        .output_schema = nullptr,
                                        .annotations = json::object(),
                                        .meta = nullptr};
  };
  std::vector<std::unique_ptr<Tool>> tools;
  tools.push_back(std::make_unique<UncheckedTool>());
  try {
    const Server server(ServerOptions(), std::move(tools));
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("tool unchecked: "), std::string::npos)
        << error.what();
  }
}

TEST(Server, RefusesTwoToolsOfOneName) {
  FakeScheduler scheduler;
  auto tools = transcripts::MakeFakeTools(scheduler);
  for (auto& tool : transcripts::MakeFakeTools(scheduler)) tools.push_back(std::move(tool));
  EXPECT_THROW(Server(transcripts::FakeServerOptions(scheduler), std::move(tools)),
               std::invalid_argument);
}

}  // namespace
}  // namespace mcp
