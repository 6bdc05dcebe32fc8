#include "mcp/message.h"

#include <gtest/gtest.h>

#include "mcp/json_reader.h"

namespace mcp {
namespace {

Message One(std::string_view line) {
  return std::get<Message>(ParseMessage(line));
}

TEST(Message, RequestKeepsMethodParamsAndId) {
  const auto request =
      std::get<Request>(One(R"({"jsonrpc":"2.0","id":7,"method":"m","params":{"a":1}})"));
  EXPECT_EQ(request.id.json(), "7");
  EXPECT_EQ(request.method, "m");
  EXPECT_EQ(request.params, nlohmann::json({{"a", 1}}));
}

TEST(Message, AbsentParamsAreAnEmptyObject) {
  EXPECT_EQ(std::get<Request>(One(R"({"jsonrpc":"2.0","id":7,"method":"m"})")).params,
            nlohmann::json::object());
}

TEST(Message, IdsOfDifferentTypesDiffer) {
  EXPECT_NE(RequestId::From(1), RequestId::From("1"));
  EXPECT_EQ(RequestId::From("a"), RequestId::From("a"));
}

TEST(Message, IdKeepsDigitsBeyond64Bits) {
  const auto request = std::get<Request>(
      One(R"({"jsonrpc":"2.0","id":-123456789012345678901234567890,"method":"m"})"));
  EXPECT_EQ(request.id.json(), "-123456789012345678901234567890");
}

TEST(Message, ArrayIsABatchOfMessages) {
  const auto batch = std::get<Batch>(
      ParseMessage(R"([{"jsonrpc":"2.0","id":1,"method":"m"},{"jsonrpc":"2.0","method":"n"},5])"));
  ASSERT_EQ(batch.messages.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<Request>(batch.messages[0]));
  EXPECT_TRUE(std::holds_alternative<Notification>(batch.messages[1]));
  EXPECT_TRUE(std::holds_alternative<Malformed>(batch.messages[2]));
}

TEST(Message, MalformedNotificationIsIgnored) {
  EXPECT_TRUE(std::holds_alternative<Ignored>(One(R"({"method":"notifications/x"})")));
}

TEST(Message, HalfASurrogatePairInALongTextLeavesTheId) {
  const std::string text = std::string(10'000, 'x') + R"(\ud83d)";
  const auto malformed = std::get<Malformed>(
      One(R"({"jsonrpc":"2.0","method":"m","params":{"a":")" + text + R"("},"id":7})"));
  EXPECT_EQ(malformed.id, RequestId::From(7));
  EXPECT_EQ(malformed.error.code(), ErrorCode::kInvalidRequest);
}

TEST(JsonReader, DepthAtTheLimitIsRead) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(ParseJson(nested(kMaxJsonDepth)).problem, JsonText::Problem::kNone);
  EXPECT_EQ(ParseJson(nested(kMaxJsonDepth + 1)).problem, JsonText::Problem::kTooDeep);
}

TEST(JsonReader, ValuesAtTheLimitAreRead) {
  const auto zeros = [](std::size_t count) {
    std::string text = "[0";
    for (std::size_t i = 1; i < count; ++i) text += ",0";
    return text + "]";
  };
  // The array counts as one value itself.
  EXPECT_EQ(ParseJson(zeros(kMaxJsonValues - 1)).problem, JsonText::Problem::kNone);
  EXPECT_EQ(ParseJson(zeros(kMaxJsonValues)).problem, JsonText::Problem::kTooManyValues);
}

TEST(JsonReader, IdIsFoundBehindTooManyValues) {
  std::string line = R"({"jsonrpc":"2.0","method":"m","params":{"a":[0)";
  for (std::size_t i = 0; i < kMaxJsonValues; ++i) line += ",0";
  line += R"(]},"id":"late"})";
  const auto malformed = std::get<Malformed>(One(line));
  ASSERT_TRUE(malformed.id);
  EXPECT_EQ(malformed.id->json(), "\"late\"");
  EXPECT_EQ(malformed.error.code(), ErrorCode::kInvalidRequest);
}

TEST(JsonReader, MembersAfterASkippedContainerAreRead) {
  const std::string deep(kMaxJsonDepth + 5, '[');
  const std::string close(kMaxJsonDepth + 5, ']');
  const JsonText text = ParseJson(R"({"a":)" + deep + close + R"(,"b":[1,2],"id":3})");
  EXPECT_EQ(text.problem, JsonText::Problem::kTooDeep);
  EXPECT_EQ(text.value["b"], nlohmann::json({1, 2}));
  EXPECT_EQ(text.value["id"], 3);
}

TEST(JsonReader, BigIntegerIsAWholeNumberAndFractionIsNot) {
  EXPECT_TRUE(IsWholeNumber(ParseJson("123456789012345678901234567890").value));
  EXPECT_FALSE(IsWholeNumber(ParseJson("1.5").value));
  EXPECT_FALSE(IsWholeNumber(ParseJson("1e30").value));
}

}  // namespace
}  // namespace mcp
