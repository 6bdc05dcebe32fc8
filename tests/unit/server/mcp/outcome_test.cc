// SPDX-License-Identifier: Apache-2.0
// How calls end, and what is sent then.

#include "mcp/outcome.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mcp/lines.h"
#include "mcp/message.h"
#include "mcp/responder.h"
#include "support/errors.h"
#include "support/pipe.h"

namespace mcp {
namespace {

using Lines = std::vector<std::string>;

/// The response as the client reads it.
nlohmann::json Response(const Outcome& outcome) {
  return nlohmann::json::parse("{" + outcome.response + "}");
}

template <typename Exception>
Outcome Of(const Exception& exception) {
  return OutcomeOf(std::make_exception_ptr(exception), Era::kModern, {});
}

TEST(Outcome, ErrorsOfEveryKindAreFailuresOfTheTool) {
  using support::StopReason;
  const std::vector<std::pair<Outcome, std::string>> cases = {
      {Of(support::Error("disk full")), "disk full"},
      {Of(support::ConnectionLost("may have run", true)), "may have run"},
      {Of(support::Stopped(StopReason::kDeadline)), "timed out"},
      {Of(support::Stopped(StopReason::kEndOfInput)), support::Describe(StopReason::kEndOfInput)}};
  for (const auto& [outcome, text] : cases) {
    EXPECT_EQ(outcome.status, CallStatus::kFailed);
    EXPECT_EQ(outcome.error, text);
    const nlohmann::json result = Response(outcome)["result"];
    EXPECT_TRUE(result["isError"]);
    EXPECT_EQ(result["content"][0]["text"], text);
    EXPECT_EQ(result["resultType"], "complete");
  }
}

TEST(Outcome, OtherExceptionsAreErrorsOfTheProtocol) {
  const Outcome refused = Of(ProtocolError(ErrorCode::kInvalidParams, "x", {{"a", 1}}));
  EXPECT_EQ(refused.status, CallStatus::kFailed);
  EXPECT_EQ(refused.error, "x");
  EXPECT_EQ(Response(refused)["error"],
            (nlohmann::json{{"code", -32602}, {"message", "x"}, {"data", {{"a", 1}}}}));
  EXPECT_EQ(Response(Of(std::out_of_range("bug")))["error"],
            (nlohmann::json{{"code", -32603}, {"message", "internal error: bug"}}));
  EXPECT_EQ(Response(Of(5))["error"]["code"], -32603);
}

TEST(Outcome, OfACommandKeepsItsEndAndOfACancelledCallHasNoError) {
  const Outcome cancelled = Of(support::Stopped(support::StopReason::kCancelled));
  EXPECT_EQ(cancelled.status, CallStatus::kCancelled);
  EXPECT_EQ(cancelled.error, "");
  const Outcome outcome =
      OutcomeOf(ToolResult{.exit_code = 3, .error = "exit status 3"}, Era::kModern, {});
  EXPECT_EQ(outcome.status, CallStatus::kSucceeded);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.error, "exit status 3");
}

/// What a client reads.
nlohmann::json Sent(const ToolResult& result) {
  return nlohmann::json::parse(ToolResultText(result, Era::kLegacy, {}));
}

TEST(Outcome, ResultsStandInTheTextAndInTheStructure) {
  const nlohmann::json content = {{"b", "\"quoted\"\n\x01 é"}, {"n", 1}};
  const nlohmann::json sent =
      Sent({.content = content.dump(), .more_content = {{{"type", "text"}, {"text", "a note"}}}});
  EXPECT_EQ(sent["structuredContent"], content);
  EXPECT_EQ(Sent({})["structuredContent"], nlohmann::json::object());
  EXPECT_EQ(sent["content"][0]["text"], content.dump());
  EXPECT_EQ(sent["content"][1]["text"], "a note");
}

TEST(Outcome, PlainTextIsSentAloneAndWithItsNotes) {
  const nlohmann::json sent = Sent({.style = ResultStyle::kText,
                                    .content = "a \"line\"\n\xFF",
                                    .more_content = {{{"type", "text"}, {"text", "a note"}}},
                                    .exit_code = 1});
  EXPECT_FALSE(sent.contains("structuredContent"));
  EXPECT_EQ(sent["content"][0]["text"], "a \"line\"\n\xEF\xBF\xBD");
  EXPECT_EQ(sent["content"][1]["text"], "a note");
}

TEST(Outcome, AResultAboveTheLimitIsAFailureThatSaysHowToGoOn) {
  constexpr std::size_t kLimit = kMaxMessageBytes - 1024;
  for (const bool is_plain : {true, false}) {
    ToolResult result{.more_content = {{{"type", "text"}, {"text", ""}}}};
    if (is_plain) {
      result.style = ResultStyle::kText;
      result.content = std::string(500'000, '"');
    }
    const std::size_t bytes = ToolResultText(result, Era::kModern, {}).size();
    result.more_content[0]["text"] = std::string(kLimit - bytes, 'n');
    EXPECT_EQ(OutcomeOf(result, Era::kModern, {}).status, CallStatus::kSucceeded);
    result.more_content[0]["text"] = std::string(kLimit - bytes + 1, 'n');
    const Outcome refused = OutcomeOf(result, Era::kModern, {}, "read less");
    EXPECT_EQ(refused.status, CallStatus::kFailed);
    EXPECT_EQ(refused.error, "the result has " + std::to_string(kLimit + 1) +
                                 " bytes as a message, more than " + std::to_string(kLimit) +
                                 ": read less");
    EXPECT_EQ(Response(refused)["result"]["content"][0]["text"], refused.error);
  }
}

class ReplyTest : public ::testing::Test {
 protected:
  Responder Open(int id) { return *requests_.Open(*ParseId(id)); }

  /// What a client would have read since the last call.
  Lines Sent() {
    writer_.Write("end");
    Lines lines;
    std::string line;
    while (line != "end") {
      if (!line.empty()) lines.push_back(line);
      while (reader_.Next(line) == LineReader::Result::kNeedMore) reader_.Fill();
    }
    return lines;
  }

  support::Pipe pipe_;
  support::WakePipe wake_;
  LineReader reader_{pipe_.read_end.get()};
  LineWriter writer_{pipe_.write_end.get(), wake_};
  OpenRequests requests_{writer_};
};

TEST_F(ReplyTest, AForgottenReplySendsAnInternalError) {
  { const Responder forgotten = Open(1); }
  const Lines sent = Sent();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_NE(sent[0].find("-32603"), std::string::npos);
}

TEST_F(ReplyTest, AMovedReplyIsAnsweredByItsNewOwnerOnly) {
  {
    Responder first = Open(1);
    Responder second = std::move(first);
    first.Result(Json::object());  // NOLINT: that is the case
    EXPECT_TRUE(Sent().empty());
    second.Result(Json::object());
  }
  EXPECT_EQ(Sent().size(), 1U);
}

TEST_F(ReplyTest, NothingIsSentOnceTheRequestIsCancelled) {
  {
    Responder reply = Open(1);
    const support::Context context = reply.stop().context();
    requests_.Cancel(*ParseId(1));
    EXPECT_EQ(context.stop_reason(), support::StopReason::kCancelled);
    reply.Notify("progress", 1);
    reply.Result(Json::object());
  }
  {
    const Responder never_answered = Open(2);
    requests_.Cancel(*ParseId(2));
  }
  EXPECT_TRUE(Sent().empty());
}

TEST_F(ReplyTest, OneResponseIsSentAndThenTheIdIsFreeAgain) {
  Responder reply = Open(1);
  EXPECT_FALSE(requests_.Open(*ParseId(1)));
  reply.Notify("progress", 1);
  reply.Result(Json::object());
  reply.Notify("late", 2);
  reply.Result(Json::object());
  EXPECT_EQ(Sent(), (Lines{R"({"jsonrpc":"2.0","method":"progress","params":1})",
                           R"({"jsonrpc":"2.0","id":1,"result":{}})"}));
  Open(1).Result(Json::object());
  EXPECT_EQ(Sent().size(), 1U);
}

}  // namespace
}  // namespace mcp
