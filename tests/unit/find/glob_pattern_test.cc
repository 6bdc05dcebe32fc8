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

TEST(GlobPattern, RejectsBadPatternsAndSaysWhere) {
  const std::vector<std::pair<std::string, const char*>> cases = {
      {"a[b", "\"a[b\" at character 2: '[' without ']'"},
      {"a/[b/c]", "at character 3: '[' without ']'"},
      {"[]", "at character 1: '[' without ']'"},
      {"[!", "'[' without ']'"},
      {"[a-", "'[' without ']'"},
      {"[a\\", "'[' without ']'"},
      {"äö日[b", "at character 4"},
      {"[z-a]", "at character 2: the range runs backwards"},
      {"x[[:letter:]]", "at character 3: there is no class [:letter:]"},
      {"ab{c,d", "at character 3: '{' without '}'"},
      {"{a,{b,c}", "at character 1: '{' without '}'"},
      {"file{1..3}", "at character 5: ranges in braces"},
      {"a\\", "at character 2: '\\' with nothing after it"},
      {"a\\/b", "at character 2: '/' separates names"},
      {std::string("a\0b", 3), "at character 2: a NUL character"},
      {"", "at character 1: it names nothing"},
      {"./", "at character 1: it names nothing"},
      {"//", "at character 1: it names nothing"},
      {"{,a}", "at character 1: it names nothing"},
      {"../x", "at character 1: '..' cannot leave the directory"},
      {"a/../b", "at character 3: '..'"},
      {"**/..", "at character 4: '..'"},
      {"\\.\\./x", "'..'"},
      {"{a,..}/x", "at character 4: '..'"},
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
  EXPECT_TRUE(alternatives[0].components[0].is_literal);
  EXPECT_FALSE(alternatives[0].components[1].is_literal);
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
