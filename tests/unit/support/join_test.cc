#include "support/join.h"

#include <gmock/gmock.h>

namespace support {
namespace {

TEST(Words, AreBetweenSpaces) {
  EXPECT_EQ(Words(" a  b\nc "), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_TRUE(Words("").empty());
}

}  // namespace
}  // namespace support
