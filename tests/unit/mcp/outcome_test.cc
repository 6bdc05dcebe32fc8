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
  return nlohmann::json::parse(ToolResultText(result, Era::kLegacy, {"x", "1"}));
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

TEST(Outcome, AResultAboveTheLimitIsAFailureThatSaysHowToGoOn) {
  for (const ToolResult& result : {ToolResult{.content = PlainText{std::string(5000, '"')}},
                                   ToolResult{.content = StructuredContent{R"({"a":"x"})"}}}) {
    const std::size_t bytes = ToolResultText(result, Era::kModern, {}).size();
    const auto sent = [&](std::size_t limit) {
      return ToolResultText(result, Era::kModern, {}, {limit, "read less"});
    };
    EXPECT_EQ(sent(bytes).size(), bytes);
    const nlohmann::json refused = nlohmann::json::parse(sent(bytes - 1));
    EXPECT_TRUE(refused["isError"]);
    EXPECT_EQ(refused["content"][0]["text"],
              "the result has " + std::to_string(bytes) + " bytes as a message, more than the " +
                  std::to_string(bytes - 1) + " that clients accept: read less");
  }
}

}  // namespace
}  // namespace mcp
