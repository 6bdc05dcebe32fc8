// The server as a whole under rough treatment. What it says is in tests/transcripts.

#include "mcp/server.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <future>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fake_tools.h"
#include "mcp/line_reader.h"

namespace mcp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using transcripts::FakeScheduler;

constexpr std::size_t kMiB = std::size_t{1024} * 1024;

/// A server in a thread and the two pipes to it.
class Session {
 public:
  explicit Session(const std::function<void(ServerOptions&)>& change = [](ServerOptions&) {}) {
    std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(::pipe(to_server_.data()), 0);
    EXPECT_EQ(::pipe(from_server_.data()), 0);
    reader_ = std::make_unique<LineReader>(from_server_[0]);
    ServerOptions options = transcripts::FakeServerOptions(scheduler_);
    change(options);
    server_ = std::make_unique<Server>(options, transcripts::MakeFakeTools(scheduler_));
    exit_ = std::async(std::launch::async, [this] {
      const Server::Exit exit = server_->Serve(to_server_[0], from_server_[1]);
      ::close(std::exchange(from_server_[1], -1));
      return exit;
    });
  }

  ~Session() {
    server_->Stop(support::StopReason::kTerminated);
    if (exit_.valid()) exit_.wait();
    for (const int fd : to_server_) ::close(fd);
    ::close(from_server_[0]);
  }
  Session(const Session&) = delete;

  void Send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(to_server_[1], bytes.data(), bytes.size());
      ASSERT_GT(count, 0);
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  void Call(int id, const std::string& tool, const json& arguments) const {
    Send(json{{"jsonrpc", "2.0"},
              {"id", id},
              {"method", "tools/call"},
              {"params", {{"name", tool}, {"arguments", arguments}}}}
             .dump() +
         "\n");
  }

  void Initialize() {
    Send("{\"jsonrpc\":\"2.0\",\"id\":\"init\",\"method\":\"initialize\"}\n");
    EXPECT_TRUE(Read().contains("result"));
  }

  void ExpectPingIsAnswered() {
    Send("{\"jsonrpc\":\"2.0\",\"id\":\"ping\",\"method\":\"ping\"}\n");
    EXPECT_EQ(Read()["id"], "ping");
  }

  /// The next line; empty at the end of output.
  std::string ReadLine() {
    std::string line;
    while (true) {
      const LineReader::Result result = reader_->Next(line);
      if (result == LineReader::Result::kLine) return line;
      if (result == LineReader::Result::kEndOfInput) return {};
      reader_->Fill();
    }
  }

  /// The next message; null at the end of output.
  json Read() {
    const std::string line = ReadLine();
    return line.empty() ? json() : json::parse(line);
  }

  std::vector<json> ReadToTheEnd() {
    std::vector<json> messages;
    for (json message = Read(); !message.is_null(); message = Read()) messages.push_back(message);
    return messages;
  }

  void CloseInput() { ::close(std::exchange(to_server_[1], -1)); }
  void CloseOutput() { ::close(std::exchange(from_server_[0], -1)); }
  Server& server() { return *server_; }
  FakeScheduler& scheduler() { return scheduler_; }

  /// Waits for the end of `Serve`.
  Server::Exit Exit() {
    EXPECT_EQ(exit_.wait_for(60s), std::future_status::ready);
    return exit_.get();
  }

 private:
  std::array<int, 2> to_server_ = {};
  std::array<int, 2> from_server_ = {};
  FakeScheduler scheduler_;
  std::unique_ptr<Server> server_;
  std::future<Server::Exit> exit_;
  std::unique_ptr<LineReader> reader_;
};

// ---- memory, where it can be measured

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMeasureMemory = false;  // the sanitizers' own would be measured
#elif defined(__linux__)
constexpr bool kMeasureMemory = true;
#else
constexpr bool kMeasureMemory = false;  // no peak that can be reset
#endif

std::size_t ReadStatus(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::stoull(line.substr(key.size())) * 1024;
  }
  return 0;
}

/// How much the memory of this process grows between its making and now, in MiB.
class MemoryGrowth {
 public:
  MemoryGrowth() {
    std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
    begin_ = ReadStatus("VmRSS:");
  }
  [[nodiscard]] std::size_t peak() const { return Since(ReadStatus("VmHWM:")); }
  [[nodiscard]] std::size_t now() const { return Since(ReadStatus("VmRSS:")); }

 private:
  [[nodiscard]] std::size_t Since(std::size_t bytes) const {
    return bytes <= begin_ ? 0 : (bytes - begin_) / kMiB;
  }
  std::size_t begin_;
};

void ExpectPeakBelow(const MemoryGrowth& memory, std::size_t mebibytes, const char* what) {
  if (!kMeasureMemory) return;
  const std::size_t peak = memory.peak();
  ::testing::Test::RecordProperty(what, std::to_string(peak) + " MiB");
  EXPECT_LT(peak, mebibytes) << what;
}

void SendRepeated(const Session& session, std::string_view piece, std::size_t bytes) {
  std::string chunk;
  while (chunk.size() < 60'000) chunk += piece;
  for (std::size_t sent = 0; sent < bytes; sent += chunk.size()) session.Send(chunk);
}

constexpr std::size_t kAlmostALine = LineReader::kMaxLine - kMiB;

TEST(ServerMemory, ALargeLineIsGivenBackOnceItIsAnswered) {
  Session session;
  session.ExpectPingIsAnswered();
  const MemoryGrowth memory;
  session.Send(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"text":")");
  SendRepeated(session, "x", kAlmostALine);
  session.Send("\"}}\n");
  EXPECT_EQ(session.Read()["id"], 1);
  session.ExpectPingIsAnswered();
  ExpectPeakBelow(memory, 512, "a line of 63 MiB");
  if (kMeasureMemory) {
    EXPECT_LT(memory.now(), 16U);
  }
}

TEST(ServerMemory, ALineWithoutEndIsNotKept) {
  Session session;
  session.ExpectPingIsAnswered();
  const MemoryGrowth memory;
  SendRepeated(session, "[", 300 * kMiB);
  session.Send("\n");
  EXPECT_EQ(session.Read()["error"]["code"], -32700);
  session.ExpectPingIsAnswered();
  ExpectPeakBelow(memory, 160, "a line of 300 MiB");
}

TEST(ServerMemory, BadJsonOfTheLargestSizeIsBounded) {
  for (const std::string_view piece : {"[", "\"", "\\u0000"}) {
    Session session;
    session.ExpectPingIsAnswered();
    const MemoryGrowth memory;
    session.Send("[\"");
    SendRepeated(session, piece, kAlmostALine);
    session.Send("\n");
    EXPECT_EQ(session.Read()["error"]["code"], -32700);
    ExpectPeakBelow(memory, 1024, "bad JSON of 63 MiB");
  }
}

TEST(ServerMemory, ManySmallValuesAreBounded) {
  for (const std::string_view piece : {"0,", "[],", "{\"a\":{}},"}) {
    Session session;
    session.ExpectPingIsAnswered();
    const MemoryGrowth memory;
    session.Send(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[)");
    SendRepeated(session, piece, 8 * kMiB);
    session.Send("0]}}\n");
    const json answer = session.Read();
    EXPECT_EQ(answer["id"], 1);
    EXPECT_EQ(answer["error"]["code"], -32600);
    ExpectPeakBelow(memory, 256, "millions of values");
  }
}

TEST(ServerMemory, AClientThatDoesNotReadCannotMakeItGrow) {
  Session session;
  session.Initialize();
  const MemoryGrowth memory;
  constexpr int kCalls = 300;
  // Each answer is two MiB: 600 together.
  for (int i = 0; i < kCalls; ++i) session.Call(i, "big", {{"bytes", kMiB}});
  for (int i = 0; i < kCalls; ++i) EXPECT_GT(session.ReadLine().size(), 2 * kMiB);
  ExpectPeakBelow(memory, 192, "300 answers of 2 MiB");
}

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
  DeafTool(std::promise<void>& begun, std::shared_future<void> release)
      : begun_(begun), release_(std::move(release)) {}
  [[nodiscard]] const ToolDefinition& definition() const override { return definition_; }
  ToolResult Call(const ToolCall&) override {
    begun_.set_value();
    release_.wait();
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
};

TEST(Server, AToolThatDoesNotStopDoesNotHoldUpTheEnd) {
  std::promise<void> begun;
  std::promise<void> release;
  FakeScheduler scheduler;
  ServerOptions options = transcripts::FakeServerOptions(scheduler);
  options.end_of_input_grace = 1ms;
  options.stop_grace = 1ms;
  std::vector<std::unique_ptr<Tool>> tools;
  tools.push_back(std::make_unique<DeafTool>(begun, release.get_future().share()));
  Server server(options, std::move(tools));
  std::array<int, 2> input = {};
  std::array<int, 2> output = {};
  ASSERT_EQ(::pipe(input.data()), 0);
  ASSERT_EQ(::pipe(output.data()), 0);
  constexpr std::string_view kCalls =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n"
      "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"deaf\"}}\n";
  ASSERT_EQ(::write(input[1], kCalls.data(), kCalls.size()), ssize_t{kCalls.size()});
  // A call that has no thread yet when the grace is over ends at once.
  std::thread client([&] {
    begun.get_future().wait();
    ::close(input[1]);
  });
  EXPECT_FALSE(server.Serve(input[0], output[1]).all_calls_ended);
  client.join();
  release.set_value();
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
  Session session([](ServerOptions& options) { options.flush_grace = 1ms; });
  session.Initialize();
  for (int i = 0; i < 100; ++i) session.Call(i, "big", {{"bytes", kMiB}});
  session.server().Stop(support::StopReason::kTerminated);
  EXPECT_TRUE(session.Exit().all_calls_ended);
}

TEST(Server, AReaderThatStopsReadingAndWritingIsTheEnd) {
  Session session([](ServerOptions& options) { options.flush_grace = 1ms; });
  session.Initialize();
  for (int i = 0; i < 100; ++i) session.Call(i, "big", {{"bytes", kMiB}});
  session.CloseInput();
  EXPECT_EQ(session.Exit().reason, support::StopReason::kEndOfInput);
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

TEST(Server, RefusesTwoToolsOfOneName) {
  FakeScheduler scheduler;
  auto tools = transcripts::MakeFakeTools(scheduler);
  for (auto& tool : transcripts::MakeFakeTools(scheduler)) tools.push_back(std::move(tool));
  EXPECT_THROW(Server(transcripts::FakeServerOptions(scheduler), std::move(tools)),
               std::invalid_argument);
}

}  // namespace
}  // namespace mcp
