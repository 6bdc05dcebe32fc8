// What the batches of version 2025-03-26 can make the server keep.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "fake_tools.h"
#include "mcp/dispatcher.h"
#include "mcp/server.h"
#include "unit/mcp/recording_transport.h"

namespace mcp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

/// What a server with one thread for calls says to these lines.
std::vector<std::string> Answers(const std::vector<json>& messages, CallPool::Limits limits) {
  auto transport = std::make_unique<RecordingTransport>();
  const RecordingTransport& recorded = *transport;
  transport->input.emplace_back(R"({"jsonrpc":"2.0","id":"init","method":"initialize",)"
                                R"("params":{"protocolVersion":"2025-03-26"}})");
  for (const json& message : messages) transport->input.push_back(message.dump());
  transcripts::FakeScheduler scheduler;
  ServerOptions options = transcripts::FakeServerOptions(scheduler);
  limits.threads = 1;
  options.limits = limits;
  options.end_of_input_grace = std::chrono::minutes(1);
  Server server(options, transcripts::MakeFakeTools(scheduler));
  EXPECT_TRUE(server.Serve(std::move(transport)).all_calls_ended);
  return recorded.lines;
}

json Call(const std::string& id, const std::string& tool, const json& arguments) {
  const json params = {{"name", tool}, {"arguments", arguments}};
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", "tools/call"}, {"params", params}};
}

json Ping(const std::string& id) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", "ping"}};
}

json Cancel(const std::string& id) {
  const json params = {{"requestId", id}};
  return {{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", params}};
}

TEST(BatchLimits, ALargeCallIsNotReckonedAsSmallAsThePingsBesideIt) {
  const auto batch = [](const std::string& name) {
    json messages = json::array();
    for (int i = 0; i < 99; ++i) messages.push_back(Ping(name + std::to_string(i)));
    messages.push_back(Call(name, "echo", {{"text", std::string(1200, 'x')}}));
    return messages;
  };
  const std::vector<std::string> answers =
      Answers({Call("blocks", "block", {{"name", "a"}}), batch("a"), batch("b"), Cancel("blocks")},
              {.queued_bytes = 2000});
  ASSERT_THAT(answers, SizeIs(3));
  EXPECT_THAT(answers[1], HasSubstr("too many calls are waiting"));
  EXPECT_THAT(answers[2], Not(HasSubstr("too many calls are waiting")));
}

TEST(BatchLimits, AnswersBeyondWhatIsKeptAreErrorsUntilABatchIsComplete) {
  constexpr std::size_t kMebibyte = std::size_t{1024} * 1024;
  constexpr std::size_t kFitting = Dispatcher::kMaxBatchBytes / kMebibyte;
  json batch = json::array();
  for (std::size_t i = 0; i < kFitting + 2; ++i) {
    batch.push_back(Call("a" + std::to_string(i), "big", {{"bytes", kMebibyte}}));
  }
  const json next = json::array({Call("next", "big", {{"bytes", kMebibyte}})});
  // The only thread is taken until both batches have been read: while the first one fills what is
  // kept, the next would not be begun.
  const std::vector<std::string> answers =
      Answers({Call("blocks", "block", {{"name", "a"}}), batch, next, Cancel("blocks")}, {});
  ASSERT_THAT(answers, SizeIs(3));
  const json first = json::parse(answers[1]);
  ASSERT_EQ(first.size(), kFitting + 2);
  std::size_t results = 0;
  for (const json& answer : first) {
    if (answer.contains("result")) {
      ++results;
    } else {
      EXPECT_THAT(answer["error"]["message"].get<std::string>(),
                  HasSubstr("Ask outside of a batch"));
    }
  }
  EXPECT_EQ(results, kFitting);
  EXPECT_THAT(answers[2], HasSubstr("\"result\"")) << "room again";
}

TEST(BatchLimits, NoBatchIsBegunWhileOthersFillWhatIsKept) {
  // Answers that no error could replace by something shorter.
  const std::string half(Dispatcher::kMaxBatchBytes / 2, 'x');
  const json fills =
      json::array({Call("blocks", "block", {{"name", "a"}}), Ping("a" + half), Ping("b" + half)});
  const json refused = json::array({Ping("blocks"), Ping("refused")});
  const json after = json::array({Cancel("blocks"), Ping("refused too")});
  const json later = json::array({Ping("later")});
  const std::vector<std::string> answers = Answers({fills, refused, after, later}, {});
  ASSERT_THAT(answers, SizeIs(5));
  const json first = json::parse(answers[1]);
  ASSERT_EQ(first.size(), 1U) << "the other has the id of one that is in flight";
  EXPECT_EQ(first[0]["id"], "refused");
  EXPECT_THAT(first[0]["error"]["message"].get<std::string>(), HasSubstr("not begun"));
  EXPECT_EQ(json::parse(answers[2]).size(), 2U) << "the cancelled call leaves the one that fills";
  EXPECT_THAT(answers[3], HasSubstr("not begun"));
  EXPECT_EQ(json::parse(answers[4])[0]["id"], "later");
  EXPECT_THAT(answers[4], HasSubstr("\"result\"")) << "room again";
}

}  // namespace
}  // namespace mcp
