// SPDX-License-Identifier: Apache-2.0
#include "support/regex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace support {
namespace {

using std::string_view_literals::operator""sv;
using testing::Optional;
using testing::UnorderedElementsAre;

TEST(RegexTest, MatchesAViewThatIsPartOfALongerText) {
  const std::string_view text = "xab1x"sv.substr(1, 3);
  EXPECT_TRUE(Regex("[a-z]+1").FullMatch(text));
  EXPECT_FALSE(Regex("[a-z]+").FullMatch(text));
  EXPECT_TRUE(Regex("b").PartialMatch(text));
  EXPECT_FALSE(Regex("x").PartialMatch(text));
  EXPECT_TRUE(Regex("(?s)a.b").FullMatch("a\0b"sv));
  EXPECT_TRUE(Regex("").FullMatch({}));
}

TEST(RegexTest, StoresGroupsAsTextViewOrNumber) {
  const std::string_view text = "ab -12 34";
  std::string word;
  int number = 0;
  std::string_view rest;
  EXPECT_TRUE(Regex(R"((\w+) (-?\d+) (.*))").FullMatch(text, &word, &number, &rest));
  EXPECT_EQ(word, "ab");
  EXPECT_EQ(number, -12);
  EXPECT_EQ(rest, "34");
  EXPECT_EQ(rest.data(), text.data() + 7);
}

TEST(RegexTest, EmptiesWhatAGroupThatTookNoPartStores) {
  std::string word = "old";
  std::string_view view = "old";
  EXPECT_TRUE(Regex("a(b)?(c)?").FullMatch("a", &word, &view));
  EXPECT_EQ(word, "");
  EXPECT_EQ(view, "");
}

TEST(RegexTest, MatchesNothingIfANumberIsTooLarge) {
  const Regex digits(R"((-?\d*))");
  std::uint16_t number = 7;
  for (const char* text : {"65536", "-1", ""}) {
    std::string_view rest = text;
    EXPECT_FALSE(digits.FullMatch(text, &number)) << text;
    EXPECT_FALSE(digits.Consume(rest, &number)) << text;
    EXPECT_EQ(rest, text);
  }
  EXPECT_EQ(number, 7);
  EXPECT_TRUE(digits.FullMatch("65535", &number));
  EXPECT_EQ(number, 65535);
  std::uint64_t large = 0;
  EXPECT_TRUE(digits.FullMatch("0000000000000000000000000018446744073709551615", &large));
  EXPECT_EQ(large, 18446744073709551615U);
}

TEST(RegexTest, ConsumesAtTheBeginning) {
  const Regex part(R"((\d+)([hms]))");
  std::string_view text = "1h30mx2s";
  int number = 0;
  std::string name;
  EXPECT_TRUE(part.Consume(text, &number, &name));
  EXPECT_EQ(text, "30mx2s");
  EXPECT_TRUE(part.Consume(text));
  EXPECT_FALSE(part.Consume(text));
  EXPECT_EQ(text, "x2s");
  EXPECT_TRUE(part.FindAndConsume(text, &number, &name));
  EXPECT_EQ(number, 2);
  EXPECT_EQ(name, "s");
  EXPECT_EQ(text, "");
  EXPECT_FALSE(part.FindAndConsume(text));
}

TEST(RegexTest, FindsTheFirstMatch) {
  const std::string_view text = "abc12def";
  const std::string_view found = Regex(R"(\d+)").Find(text);
  EXPECT_EQ(found, "12");
  EXPECT_EQ(found.data(), text.data() + 3);
  const std::string_view none = Regex("x").Find(text);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.data(), text.data() + text.size());
}

TEST(RegexTest, ReplacesTheFirstMatchOrAll) {
  const Regex word(R"((\w)\w*)");
  std::string text = "one two";
  EXPECT_TRUE(word.Replace(text, R"(<\1\\>)"));
  EXPECT_EQ(text, R"(<o\> two)");
  word.ReplaceAll(text, "x\0"sv);
  EXPECT_EQ(text, "<x\0\\> x\0"sv);
  EXPECT_FALSE(Regex("y").Replace(text, ""));
}

TEST(RegexTest, CharactersAreUtf8OrBytes) {
  EXPECT_TRUE(Regex(".").FullMatch("é"));
  EXPECT_FALSE(Regex(".").FullMatch("\xE9"));
  EXPECT_FALSE(Regex(".", Regex::kLatin1).FullMatch("é"));
  EXPECT_TRUE(Regex(".", Regex::kLatin1).FullMatch("\xE9"));
}

TEST(RegexTest, QuotedTextMatchesItself) {
  for (const std::string_view text : {R"(a.b*[c]\(?{1})"sv, "é\n"sv, "\0"sv, ""sv}) {
    EXPECT_TRUE(Regex(Regex::Quote(text)).FullMatch(text)) << text;
  }
}

std::string ErrorOf(std::string_view pattern, std::int64_t max_memory = Regex::kDefaultMemory) {
  try {
    (void)Regex(pattern, Regex::Encoding::kUtf8, max_memory);
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(RegexTest, RefusesInvalidAndTooLargePatterns) {
  EXPECT_EQ(ErrorOf("a{2}"), "");
  EXPECT_THAT(ErrorOf("a("), testing::HasSubstr("missing )"));
  EXPECT_EQ(ErrorOf("(?:x{100}){9}"), "");
  EXPECT_THAT(ErrorOf("(?:x{100}){9}", 10'000), testing::HasSubstr("too large"));
}

TEST(RegexSetTest, ReportsWhichPatternsMatchTheWholeText) {
  const RegexSet set(std::vector<std::string>{"a.*", "b", ".b", "A\nb"});
  EXPECT_THAT(set.FullMatches("ab"), Optional(UnorderedElementsAre(0, 2)));
  EXPECT_THAT(set.FullMatches("a\nb"), Optional(UnorderedElementsAre(0)));
  EXPECT_THAT(set.FullMatches("c"), Optional(UnorderedElementsAre()));
  const RegexSet none({});
  EXPECT_THAT(none.FullMatches("a"), Optional(UnorderedElementsAre()));
}

TEST(RegexSetTest, MayIgnoreCaseAndMatchBytes) {
  const std::vector<std::string> patterns = {"ab", "."};
  const RegexSet any_case(patterns, Regex::Encoding::kUtf8, false);
  EXPECT_THAT(any_case.FullMatches("AB"), Optional(UnorderedElementsAre(0)));
  EXPECT_THAT(any_case.FullMatches("\xE9"), Optional(UnorderedElementsAre()));
  const RegexSet bytes(patterns, Regex::kLatin1);
  EXPECT_THAT(bytes.FullMatches("\xE9"), Optional(UnorderedElementsAre(1)));
  EXPECT_THAT(bytes.FullMatches("AB"), Optional(UnorderedElementsAre()));
}

TEST(RegexSetTest, RefusesInvalidPatternsAndTooMany) {
  EXPECT_THROW(RegexSet(std::vector<std::string>{"a", "("}), std::invalid_argument);
  EXPECT_THROW(RegexSet(std::vector<std::string>(2000, "(?:x{100}){9}")), std::invalid_argument);
}

}  // namespace
}  // namespace support
