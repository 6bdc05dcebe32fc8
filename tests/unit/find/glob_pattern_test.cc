#include "find/glob_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/errors.h"

namespace find {
namespace {

using testing::HasSubstr;

std::string ErrorOf(const std::string& pattern) {
  try {
    ParseGlob(pattern);
  } catch (const support::CallError& error) {
    return error.what();
  }
  return "no error";
}

std::string Repeat(const std::string& text, std::size_t times) {
  std::string repeated;
  for (std::size_t i = 0; i < times; ++i) repeated += text;
  return repeated;
}

TEST(GlobPattern, RejectsBadPatternsAndSaysWhy) {
  const std::vector<std::pair<std::string, const char*>> cases = {
      {"a[b", "Bad pattern \"a[b\": '[' without ']'"},
      {"a/[b/c]", "'[' without ']'"},
      {"[]", "'[' without ']'"},
      {"[!", "'[' without ']'"},
      {"[a-", "'[' without ']'"},
      {"[a\\", "'[' without ']'"},
      {"äö日[b", "\"äö日[b\": '[' without"},
      {"[z-a]", "the range runs backwards"},
      {"x[[:digit:]]", "classes such as [:digit:]"},
      {"ab{c,d", "'{' without '}'"},
      {"{a,{b,c}", "'{' without '}'"},
      {"file{1..3}", "ranges in braces"},
      {"a\\", "'\\' with nothing after it"},
      {"a\\/b", "'/' separates names"},
      {std::string("a\0b", 3), "a NUL character"},
      {"", "it names nothing"},
      {"./", "it names nothing"},
      {"//", "it names nothing"},
      {"{,a}", "it names nothing"},
      {"../x", "'..' cannot leave the directory"},
      {"a/../b", "'..'"},
      {"**/..", "'..'"},
      {"\\.\\./x", "'..'"},
      {"{a,..}/x", "'..'"},
      {".{.,x}/a", "'..'"},
      {"..foo/...", "no error"},
  };
  for (const auto& [pattern, error] : cases) EXPECT_THAT(ErrorOf(pattern), HasSubstr(error));
}

TEST(GlobPattern, BracesThatMultiplyAreRejected) {
  EXPECT_THAT(ErrorOf(Repeat("{a,b}", 40)), HasSubstr("more than 1000 alternatives"));
  EXPECT_THAT(ErrorOf(Repeat("{a,", 30) + "b" + Repeat("}", 30) + Repeat("{c,d}", 6)),
              HasSubstr("more than 1000 alternatives"));
  const std::string thousand = "{1,2,3,4,5,6,7,8,9,0}";
  EXPECT_EQ(ParseGlob(Repeat(thousand, 3)).size(), kMaximumGlobAlternatives);
  EXPECT_THAT(ErrorOf(Repeat(thousand, 3) + "{a,b}"), HasSubstr("more than 1000"));
  EXPECT_EQ(ErrorOf(Repeat("x", 61) + Repeat(thousand, 3)), "no error");
  EXPECT_THAT(ErrorOf(Repeat("x", 63) + Repeat(thousand, 3)), HasSubstr("65536 characters"));
  EXPECT_EQ(ErrorOf(Repeat(thousand, 3) + Repeat("x", 61)), "no error");
  EXPECT_THAT(ErrorOf(Repeat(thousand, 3) + Repeat("x", 63)), HasSubstr("65536 characters"));
  EXPECT_THAT(ErrorOf("{" + Repeat(thousand, 3) + ",a}"), HasSubstr("more than 1000"));
}

TEST(GlobPattern, NestedBracesAndLengthHaveLimits) {
  const auto nested = [](std::size_t depth) {
    return Repeat("{", depth) + "a,b" + Repeat("}", depth);
  };
  EXPECT_EQ(ErrorOf(nested(kMaximumGlobBraceDepth)), "no error");
  EXPECT_THAT(ErrorOf(nested(kMaximumGlobBraceDepth + 1)), HasSubstr("nested more than 32"));
  EXPECT_THAT(ErrorOf(Repeat("{", 4000)), HasSubstr("nested more than 32"));
  EXPECT_EQ(ErrorOf(std::string(kMaximumGlobPattern, 'x')), "no error");
  EXPECT_THAT(ErrorOf(std::string(kMaximumGlobPattern + 1, 'x')),
              HasSubstr("4097 bytes, more than the 4096 allowed"));
}

TEST(GlobPattern, ExpandsBracesAndRecognizesLiterals) {
  const auto alternatives = ParseGlob("/a\\*b/{x[!y],**}/");
  ASSERT_EQ(alternatives.size(), 2U);
  EXPECT_TRUE(alternatives[0].absolute);
  EXPECT_TRUE(alternatives[0].directories_only);
  ASSERT_EQ(alternatives[0].components.size(), 2U);
  EXPECT_EQ(alternatives[0].components[0].literal, "a*b");
  EXPECT_EQ(alternatives[0].components[1].literal, "");
  EXPECT_TRUE(alternatives[1].components[1].is_any_depth);
}

TEST(GlobPattern, NameFiltersLetThroughAtLeastWhatMatches) {
  const auto filter = [](const std::string& pattern) {
    return ParseGlob(pattern)[0].components.back().name_filter;
  };
  EXPECT_EQ(filter("a/*.cc"), "*.cc");
  EXPECT_EQ(filter("x?[ab]*y"), "x*y");
  EXPECT_EQ(filter("\\*\\[a\\\\"), "\\*\\[a\\\\");
  EXPECT_EQ(filter("**"), "*");
  EXPECT_EQ(filter("\xEF\xBF\xBD.txt"), "*.txt");
  EXPECT_EQ(filter("日"), "日");
}

}  // namespace
}  // namespace find
