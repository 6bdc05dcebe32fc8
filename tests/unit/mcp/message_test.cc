#include "mcp/message.h"

#include <gtest/gtest.h>

#include "mcp/json_reader.h"

namespace mcp {
namespace {

TEST(Message, RequestKeepsMethodParamsAndId) {
  const auto request =
      std::get<Request>(ParseMessage(R"({"jsonrpc":"2.0","id":7,"method":"m","params":{"a":1}})"));
  EXPECT_EQ(request.id.json(), "7");
  EXPECT_EQ(request.method, "m");
  EXPECT_EQ(request.params, nlohmann::json({{"a", 1}}));
}

TEST(Message, AbsentParamsAreAnEmptyObject) {
  EXPECT_EQ(std::get<Request>(ParseMessage(R"({"jsonrpc":"2.0","id":7,"method":"m"})")).params,
            nlohmann::json::object());
}

TEST(Message, IdsOfDifferentTypesDiffer) {
  EXPECT_NE(RequestId::From(1), RequestId::From("1"));
  EXPECT_EQ(RequestId::From("a"), RequestId::From("a"));
}

TEST(Message, MalformedNotificationIsIgnored) {
  EXPECT_TRUE(std::holds_alternative<Ignored>(ParseMessage(R"({"method":"notifications/x"})")));
}

TEST(JsonReader, DepthAtTheLimitIsRead) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(ParseJson(nested(kMaxJsonDepth)).problem, JsonText::Problem::kNone);
  EXPECT_EQ(ParseJson(nested(kMaxJsonDepth + 1)).problem, JsonText::Problem::kTooLarge);
}

TEST(JsonReader, ValuesAtTheLimitAreRead) {
  const auto zeros = [](std::size_t count) {
    std::string text = "[0";
    for (std::size_t i = 1; i < count; ++i) text += ",0";
    return text + "]";
  };
  // The array counts as one value itself.
  EXPECT_EQ(ParseJson(zeros(kMaxJsonValues - 1)).problem, JsonText::Problem::kNone);
  EXPECT_EQ(ParseJson(zeros(kMaxJsonValues)).problem, JsonText::Problem::kTooLarge);
}

TEST(JsonReader, IdIsFoundBehindWhatIsTooLarge) {
  std::string zeros = "[0";
  for (std::size_t i = 0; i < kMaxJsonValues; ++i) zeros += ",0";
  const std::string deep = std::string(200, '[') + std::string(200, ']');
  for (const std::string& large : {zeros + "]", deep, "{\"id\":5,\"a\":" + deep + "}"}) {
    const auto malformed = std::get<Malformed>(ParseMessage(
        R"({"jsonrpc":"2.0","method":"m","params":{"a":)" + large + R"(},"id":"late"})"));
    ASSERT_TRUE(malformed.id);
    EXPECT_EQ(malformed.id->json(), "\"late\"");
    EXPECT_EQ(malformed.error.code(), ErrorCode::kInvalidRequest);
  }
}

TEST(JsonReader, ReadsWhatNlohmannReads) {
  const std::string text =
      R"({"a":[1,-2,2.5,true,null,"\"\\\u00e9\ud83d\ude00"],"b":{"c":[],"d":{}},"":""})";
  EXPECT_EQ(ParseJson(text).value, nlohmann::json::parse(text));
}

}  // namespace
}  // namespace mcp
