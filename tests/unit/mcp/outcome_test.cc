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
nlohmann::json Sent(ToolResult result) {
  return nlohmann::json::parse(ToolResultText(std::move(result), Era::kLegacy, {}).Text());
}

TEST(Outcome, ResultsStandInTheTextAndInTheStructure) {
  const nlohmann::json small = {{"b", "\"quoted\"\n"}, {"n", 1}};
  const nlohmann::json sent = Sent({.structured = small});
  EXPECT_EQ(sent["structuredContent"], small);
  EXPECT_EQ(nlohmann::json::parse(sent["content"][0]["text"].get<std::string>()), small);
}

TEST(Outcome, StructuredTextIsSentAsItsValuesAre) {
  const std::string text = R"({"entries":[{"name":"a \"quoted\" name\n","size":1}]})";
  EXPECT_EQ(Sent({.structured_text = text}), Sent({.structured = nlohmann::json::parse(text)}));
}

TEST(Outcome, PlainTextIsSentAloneAndWithItsNotes) {
  const nlohmann::json sent = Sent({.structured = {{"exit_code", 1}},
                                    .more_content = {{{"type", "text"}, {"text", "a note"}}},
                                    .text = "a \"line\"\n\xFF"});
  EXPECT_FALSE(sent.contains("structuredContent"));
  EXPECT_EQ(sent["content"][0]["text"], "a \"line\"\n\xEF\xBF\xBD");
  EXPECT_EQ(sent["content"][1]["text"], "a note");
}

TEST(Outcome, LargeStringsAreSentAsSmallOnesAre) {
  // Not a divisor of any size of a piece, so that pieces are cut anywhere.
  const std::string unit = "\"\\\n\t\x01 é 😀 text;";
  std::string large;
  while (large.size() < 300'000) large += unit;
  const nlohmann::json result = {{"a", large}, {"b", 1}, {"c", large}, {"d", {{"nested", large}}}};
  const nlohmann::json sent =
      Sent({.structured = result, .more_content = {{{"type", "text"}, {"text", "a note"}}}});
  EXPECT_EQ(sent["structuredContent"], result);
  EXPECT_EQ(nlohmann::json::parse(sent["content"][0]["text"].get<std::string>()), result);
  EXPECT_EQ(sent["content"][1]["text"], "a note");
}

/// The response as the client reads it.
nlohmann::json Response(EncodedOutcome& encoded) {
  return nlohmann::json::parse("{" + std::move(encoded.response).Text() + "}");
}

TEST(Outcome, IsRecordedAsTheClientGetsIt) {
  EncodedOutcome result =
      Encode(ToolResult{.structured = {{"a", 1}}, .exit_code = 3, .error = "exit status 3"},
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
  constexpr std::size_t kLimit = kLongestMessage - 1024;
  const auto result = [](bool is_plain, const std::string& text, std::size_t note) {
    ToolResult made{.structured = {{"a", text}},
                    .more_content = {{{"type", "text"}, {"text", std::string(note, 'n')}}}};
    if (is_plain) made.text = text;
    return made;
  };
  for (const char* character : {"x", "\"", "\x01", "é"}) {
    for (const bool is_plain : {true, false}) {
      std::string unit;
      while (unit.size() < 20'000) unit += character;
      const auto bytes = [&](const std::string& text) {
        return ToolResultText(result(is_plain, text, 0), Era::kModern, {}).escaped_bytes();
      };
      const std::size_t per_unit = bytes(unit + unit) - bytes(unit);
      std::string text;
      for (std::size_t i = 1; i < kLimit / per_unit; ++i) text += unit;
      const std::size_t longest_note = kLimit - bytes(text);
      EXPECT_EQ(Encode(result(is_plain, text, longest_note), Era::kModern, {}).status,
                CallStatus::kSucceeded);
      EncodedOutcome refused =
          Encode(result(is_plain, text, longest_note + 1), Era::kModern, {}, "read less");
      EXPECT_EQ(refused.status, CallStatus::kFailed);
      EXPECT_EQ(refused.error, "the result has " + std::to_string(kLimit + 1) +
                                   " bytes as a message, more than " + std::to_string(kLimit) +
                                   ": read less");
      EXPECT_EQ(Response(refused)["result"]["content"][0]["text"], refused.error);
    }
  }
}

TEST(Outcome, LargeStringsThatAreNotUtf8GetReplacementCharacters) {
  const std::string large = std::string(100'000, 'x') + "\xFF";
  const nlohmann::json sent = Sent({.structured = {{"a", large}}});
  EXPECT_EQ(sent["structuredContent"]["a"], std::string(100'000, 'x') + "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace mcp
