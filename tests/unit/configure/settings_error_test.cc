#include "configure/settings_error.h"

#include <gtest/gtest.h>

namespace configure {
namespace {

TEST(PositionAt, CountsLinesAndCharactersFromOne) {
  const std::string text = "ab\n\xC3\xA4\xC3\xB6x";
  EXPECT_EQ(PositionAt(text, 0).line, 1U);
  EXPECT_EQ(PositionAt(text, 0).column, 1U);
  EXPECT_EQ(PositionAt(text, text.find('x')).line, 2U);
  EXPECT_EQ(PositionAt(text, text.find('x')).column, 3U) << "characters, not bytes";
}

TEST(PositionAt, PassesOverAByteOrderMark) {
  EXPECT_EQ(PositionAt("\xEF\xBB\xBF{", 3).column, 1U);
}

TEST(PositionAt, EndOfTheTextIsAPlace) {
  EXPECT_EQ(PositionAt("a\n", 2).line, 2U);
  EXPECT_EQ(PositionAt("a\n", 2).column, 1U);
}

}  // namespace
}  // namespace configure
