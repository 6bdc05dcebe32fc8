#include "suites/runner/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace suites {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Lines = std::vector<std::string>;

TEST(SuiteLines, APlaceholderStandsForAnyText) {
  EXPECT_TRUE(Matches("a<*>c<*>", "abc"));
  EXPECT_TRUE(Matches("<*>", ""));
  EXPECT_FALSE(Matches("a<*>c", "abcd"));
  EXPECT_FALSE(Matches("abc", "ab"));
}

TEST(SuiteLines, ALineThatIsAPlaceholderStandsForAnyNumberOfLines) {
  const Lines expected = {"first", "<*>", "last"};
  EXPECT_TRUE(AreSame(Compare(expected, {"first", "last"})));
  EXPECT_TRUE(AreSame(Compare(expected, {"first", "2", "3", "last"})));
  EXPECT_FALSE(AreSame(Compare(expected, {"first", "2"})));
  EXPECT_FALSE(AreSame(Compare({}, {"more"})));
  EXPECT_FALSE(AreSame(Compare({"more"}, {})));
}

TEST(SuiteLines, WhatIsRewrittenKeepsThePlaceholdersThatFit) {
  const std::vector<Change> changes =
      Compare({"port <*>", "old", "<*>", "end"}, {"port 22", "new", "3", "end", "more"});
  EXPECT_EQ(Diff(changes), "  port <*>\n- old\n  <*>\n  end\n+ more\n");
  EXPECT_THAT(Rewritten(changes), ElementsAre("port <*>", "<*>", "end", "more"));
}

TEST(SuiteLines, BytesThatAreNoTextAreEscaped) {
  EXPECT_THAT(PrintableLines("a\tb\n\n\x1b[1m\xff\xc3\xa4"),
              ElementsAre("a\tb", "", "\\x1b[1m\\xff\xc3\xa4 (no newline)"));
  EXPECT_THAT(PrintableLines(""), IsEmpty());
}

}  // namespace
}  // namespace suites
