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
  return nlohmann::json::parse(ToolResultText(std::move(result), Era::kLegacy, {"x", "1"}).Text());
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

TEST(Outcome, AResultAboveTheLimitIsAFailureThatSaysHowToGoOn) {
  for (const char* character : {"x", "\"", "\n", "\x01", "é"}) {
    std::string large;
    while (large.size() < 50'000) large += character;
    for (const bool is_plain : {true, false}) {
      ToolResult result{.structured = {{"a", large}, {"b", "small"}}};
      if (is_plain) result.text = large;
      const std::size_t bytes = ToolResultText(result, Era::kModern, {}).Text().size();
      const auto sent = [&](std::size_t limit) {
        return ToolResultText(result, Era::kModern, {}, {limit, "read less"}).Text();
      };
      EXPECT_EQ(sent(bytes).size(), bytes);
      const nlohmann::json refused = nlohmann::json::parse(sent(bytes - 1));
      EXPECT_TRUE(refused["isError"]);
      EXPECT_EQ(refused["content"][0]["text"],
                "the result has " + std::to_string(bytes) + " bytes as a message, more than the " +
                    std::to_string(bytes - 1) + " that --max-result allows: read less");
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
