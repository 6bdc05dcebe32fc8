#include "mcp/message.h"

#include <gtest/gtest.h>

#include <string>

namespace mcp {
namespace {

/// Whether a message with these params is read.
bool IsRead(const std::string& params) {
  const Message message =
      ParseMessage(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":)" + params + "}}");
  if (!message.error) return true;
  EXPECT_EQ(message.error->code(), ErrorCode::kInvalidRequest);
  return false;
}

TEST(Message, DepthAtTheLimitIsRead) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(IsRead(nested(kMaxJsonDepth - 2)));
  EXPECT_FALSE(IsRead(nested(kMaxJsonDepth - 1)));
}

TEST(Message, ValuesAtTheLimitAreRead) {
  const auto commas = [](std::size_t count) {
    std::string text = "[0";
    for (std::size_t i = 0; i < count; ++i) text += ",0";
    return text + "]";
  };
  // Three containers, and three members beside the first of the message.
  EXPECT_TRUE(IsRead(commas(kMaxJsonValues - 7)));
  EXPECT_FALSE(IsRead(commas(kMaxJsonValues - 6)));
}

TEST(Message, BracketsAndCommasInAStringAreText) {
  EXPECT_TRUE(IsRead("\"" + std::string(kMaxJsonValues, ',') + "\""));
  EXPECT_TRUE(IsRead("\"\\\"" + std::string(200, '[') + "\""));
}

}  // namespace
}  // namespace mcp
