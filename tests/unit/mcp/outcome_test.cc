#include "mcp/outcome.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "support/errors.h"

namespace mcp {
namespace {

template <typename Exception>
Outcome Of(const Exception& exception) {
  return OutcomeOf(std::make_exception_ptr(exception));
}

TEST(Outcome, CallErrorsOfEveryKindAreFailuresOfTheTool) {
  EXPECT_EQ(std::get<ToolFailure>(Of(support::CallError("disk full"))).text, "disk full");
  EXPECT_EQ(std::get<ToolFailure>(Of(support::ConnectionLost("may have run", true))).text,
            "may have run");
  EXPECT_EQ(std::get<ToolFailure>(Of(support::Stopped(support::StopReason::kDeadline))).text,
            "timed out");
  EXPECT_TRUE(
      std::holds_alternative<ToolFailure>(Of(support::Stopped(support::StopReason::kEndOfInput))));
}

TEST(Outcome, CancelledCallsNeedNoAnswer) {
  EXPECT_TRUE(
      std::holds_alternative<Cancelled>(Of(support::Stopped(support::StopReason::kCancelled))));
}

TEST(Outcome, ProtocolErrorsKeepCodeAndData) {
  const Outcome outcome = Of(ProtocolError(ErrorCode::kInvalidParams, "x", {{"a", 1}}));
  EXPECT_EQ(std::get<ProtocolError>(outcome).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(std::get<ProtocolError>(outcome).data()["a"], 1);
}

TEST(Outcome, EverythingElseIsAnInternalError) {
  EXPECT_EQ(std::get<ProtocolError>(Of(std::out_of_range("bug"))).code(),
            ErrorCode::kInternalError);
  EXPECT_EQ(std::get<ProtocolError>(Of(5)).code(), ErrorCode::kInternalError);
}

/// What a client reads.
nlohmann::json Sent(const ToolResult& result) {
  return nlohmann::json::parse(ToolResultText(result, Era::kLegacy, {}));
}

TEST(Outcome, ResultsStandInTheTextAndInTheStructure) {
  const nlohmann::json content = {{"b", "\"quoted\"\n\x01 é"}, {"n", 1}};
  const nlohmann::json sent = Sent({.content = StructuredContent{content.dump()},
                                    .more_content = {{{"type", "text"}, {"text", "a note"}}}});
  EXPECT_EQ(sent["structuredContent"], content);
  EXPECT_EQ(sent["content"][0]["text"], content.dump());
  EXPECT_EQ(sent["content"][1]["text"], "a note");
}

TEST(Outcome, AResultWithoutContentIsAnEmptyObject) {
  EXPECT_EQ(Sent({})["structuredContent"], nlohmann::json::object());
}

TEST(Outcome, PlainTextIsSentAloneAndWithItsNotes) {
  const nlohmann::json sent = Sent({.content = PlainText{"a \"line\"\n\xFF"},
                                    .more_content = {{{"type", "text"}, {"text", "a note"}}},
                                    .exit_code = 1});
  EXPECT_FALSE(sent.contains("structuredContent"));
  EXPECT_EQ(sent["content"][0]["text"], "a \"line\"\n\xEF\xBF\xBD");
  EXPECT_EQ(sent["content"][1]["text"], "a note");
}

/// The response as the client reads it.
nlohmann::json Response(const EncodedOutcome& encoded) {
  return nlohmann::json::parse("{" + encoded.response + "}");
}

TEST(Outcome, IsRecordedAsTheClientGetsIt) {
  EncodedOutcome result = Encode(
      ToolResult{
          .content = StructuredContent{R"({"a":1})"}, .exit_code = 3, .error = "exit status 3"},
      Era::kModern, {});
  EXPECT_EQ(result.status, CallStatus::kSucceeded);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.error, "exit status 3");
  EXPECT_EQ(Response(result)["result"]["structuredContent"]["a"], 1);

  EncodedOutcome failure = Encode(ToolFailure{"the disk is full"}, Era::kModern, {});
  EXPECT_EQ(failure.status, CallStatus::kFailed);
  EXPECT_EQ(failure.error, "the disk is full");
  const nlohmann::json failed = Response(failure)["result"];
  EXPECT_TRUE(failed["isError"]);
  EXPECT_EQ(failed["content"][0]["text"], "the disk is full");
  EXPECT_EQ(failed["resultType"], "complete");

  EncodedOutcome error = Encode(InvalidParams("unknown"), Era::kModern, {});
  EXPECT_EQ(error.status, CallStatus::kFailed);
  EXPECT_EQ(error.error, "unknown");
  EXPECT_EQ(Response(error)["error"]["code"], -32602);

  EncodedOutcome cancelled = Encode(Cancelled{}, Era::kModern, {});
  EXPECT_EQ(cancelled.status, CallStatus::kCancelled);
  EXPECT_EQ(cancelled.error, "");
  EXPECT_EQ(Response(cancelled)["error"]["code"], -32603);
}

TEST(Outcome, AResultAboveTheLimitIsAFailureThatSaysHowToGoOn) {
  constexpr std::size_t kLimit = kMaxMessageBytes - 1024;
  for (const bool is_plain : {true, false}) {
    ToolResult result{.more_content = {{{"type", "text"}, {"text", ""}}}};
    if (is_plain) result.content = PlainText{std::string(500'000, '"')};
    const std::size_t bytes = ToolResultText(result, Era::kModern, {}).size();
    result.more_content[0]["text"] = std::string(kLimit - bytes, 'n');
    EXPECT_EQ(Encode(result, Era::kModern, {}).status, CallStatus::kSucceeded);
    result.more_content[0]["text"] = std::string(kLimit - bytes + 1, 'n');
    const EncodedOutcome refused = Encode(result, Era::kModern, {}, "read less");
    EXPECT_EQ(refused.status, CallStatus::kFailed);
    EXPECT_EQ(refused.error, "the result has " + std::to_string(kLimit + 1) +
                                 " bytes as a message, more than " + std::to_string(kLimit) +
                                 ": read less");
    EXPECT_EQ(Response(refused)["result"]["content"][0]["text"], refused.error);
  }
}

}  // namespace
}  // namespace mcp
