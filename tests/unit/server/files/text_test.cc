// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "files/content_type.h"
#include "files/text_replacement.h"
#include "support/errors.h"

namespace files {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;

TEST(ContentType, IsTextUnlessNulsOrControlCharactersAreManyOrNoneOfItsEncoding) {
  const std::vector<std::pair<std::string, ContentKind>> cases = {
      {"", ContentKind::kUtf8},
      {"text\r\n", ContentKind::kUtf8},
      {"\uFEFFbom \u20ac \U0001F600", ContentKind::kUtf8},
      {"%PDF- in the words of a text", ContentKind::kUtf8},
      {"nine char\0"s, ContentKind::kUtf8},
      {"eight ch\0"s, ContentKind::kBinary},
      {std::string(100, '\0'), ContentKind::kBinary},
      {"caf\xE9 au lait", ContentKind::kOtherText},
      {"some text and \xFF and \0"s, ContentKind::kBinary},
      {"\x01\x02\x03\xFF", ContentKind::kBinary},
      {"\x1F\x8B\xFF", ContentKind::kBinary}};
  for (const auto& [bytes, kind] : cases) EXPECT_EQ(Classify(bytes), kind) << bytes;
}

TEST(ContentType, WellKnownFormatsAreNamed) {
  EXPECT_EQ(DescribeBinary("PK\x03\x04rest"), "a ZIP archive");
  EXPECT_EQ(DescribeBinary("\x7F"
                           "ELF"),
            "an ELF program or library");
  EXPECT_EQ(DescribeBinary("\xFF\xFEh"s), "UTF-16 text");
  EXPECT_EQ(DescribeBinary("\x01\x02"), "binary data");
}

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

const support::Context kNeverStopped;

std::string Replaced(std::string_view text, std::string_view sought, std::string_view replacement) {
  return ReplaceOccurrences(text, sought, replacement, kNoLimit, kNeverStopped)->text;
}

std::uint64_t Count(std::string_view text, std::string_view sought) {
  return FindOccurrences(text, sought, kNeverStopped).count;
}

TEST(TextReplacement, CountsOccurrencesAndNumbersTheirLines) {
  EXPECT_EQ(Count("", "x"), 0U);
  EXPECT_EQ(Count("short", "longer text"), 0U);
  EXPECT_EQ(Replaced("abc", "d", "e"), "abc");
  const Occurrences found = FindOccurrences("x x\n\nx\ny x", "x", kNeverStopped);
  EXPECT_EQ(found.count, 4U);
  EXPECT_THAT(found.lines, ElementsAre(1U, 3U, 4U));
  std::string text;
  for (int i = 0; i < 21; ++i) text += "x\n";
  const Occurrences many = FindOccurrences(text, "x", kNeverStopped);
  EXPECT_EQ(many.count, 21U);
  EXPECT_EQ(many.lines.size(), kMaxListedLines);
  EXPECT_EQ(many.lines.back(), 20U);
}

TEST(TextReplacement, CountsWhatWouldBeReplaced) {
  for (const auto& [text, sought] :
       std::vector<std::pair<std::string, std::string>>{{"}\n}\n}\n", "}\n}\n"},
                                                        {"aaaaa", "aa"},
                                                        {"\n\n\n", "\n\n"},
                                                        {"x\nx\nx\nx\n", "x\nx\n"},
                                                        {"a\r\n\r\n\r\nb", "\n\n"},
                                                        {"\n\r\n\n", "\n"},
                                                        {"abababa", "aba"}}) {
    EXPECT_EQ(Count(text, sought),
              ReplaceOccurrences(text, sought, "", kNoLimit, kNeverStopped)->replacements)
        << text;
  }
  EXPECT_EQ(Count("aaaaa", "aa"), 2U);
  EXPECT_EQ(Count("\n\n\n", "\n\n"), 1U);
  EXPECT_EQ(Replaced("aaa", "aa", "b"), "ba");
  EXPECT_EQ(Replaced("abababa", "aba", "x"), "xbx");
  EXPECT_EQ(Replaced("aa", "a", "aa"), "aaaa") << "the replacement is not searched";
  EXPECT_EQ(ReplaceOccurrences("aaaa", "aa", "b", kNoLimit, kNeverStopped)->replacements, 2U);
}

TEST(TextReplacement, EveryOtherByteStays) {
  const std::string bytes = "\0\xFF\xFE\r\n\rx\n\xC3"s;
  EXPECT_EQ(Replaced(bytes, "x", "yy"), "\0\xFF\xFE\r\n\ryy\n\xC3"s);
  EXPECT_EQ(Replaced("a\0b"s, "\0"s, ""), "ab");
}

TEST(TextReplacement, LineFeedFindsCarriageReturnToo) {
  EXPECT_EQ(Replaced("one\r\ntwo\r\nthree\r\n", "one\ntwo\n", "1\n2\n2a\n"),
            "1\r\n2\r\n2a\r\nthree\r\n");
  EXPECT_EQ(Replaced("a\r\nb", "\nb", "\nc"), "a\r\nc");
  EXPECT_EQ(Replaced("a\r\n\r\nb", "\n", "\n\n"), "a\r\n\r\n\r\n\r\nb");
  EXPECT_EQ(Count("a\r\n\r\nb", "\n"), 2U);
}

TEST(TextReplacement, MatchesHaveOneLineEndAndKeepIt) {
  EXPECT_EQ(Count("a\nb", "a\r\nb"), 0U);
  EXPECT_EQ(Replaced("a\r\nb", "a\r\nb", "c\nd"), "c\nd");  // the caller knows its line ends
  EXPECT_EQ(Replaced("a\nb|a\r\nb", "a\nb", "c\nd"), "c\nd|c\r\nd");
  EXPECT_EQ(Count("a\nb|a\r\nb", "a\nb"), 2U);
  EXPECT_EQ(Count("a\r\nb\nc", "a\nb\nc"), 0U);
  EXPECT_EQ(Count("x\r\nb\nc", "\nb\nc"), 1U);
}

TEST(TextReplacement, NewLinesOfAReplacedPartOfALineAreThoseOfTheFile) {
  EXPECT_EQ(Replaced("one two\r\nthree\r\n", "one two", "one\ntwo"), "one\r\ntwo\r\nthree\r\n");
  EXPECT_EQ(Replaced("one two\r\nthree\n", "one two", "one\ntwo"), "one\ntwo\r\nthree\n");
  EXPECT_EQ(Replaced("one two", "one two", "one\ntwo"), "one\ntwo");
  EXPECT_EQ(Replaced("a\r\nb", "a\nb", "c\r\nd\ne"), "c\r\nd\r\ne") << "not doubled";
}

TEST(TextReplacement, StopsAtTheMaximumSize) {
  EXPECT_EQ(ReplaceOccurrences("axb", "x", "12", 4, kNeverStopped)->text, "a12b");
  EXPECT_EQ(ReplaceOccurrences("axb", "x", "12", 3, kNeverStopped), std::nullopt);
  EXPECT_EQ(
      ReplaceOccurrences(std::string(1000, 'x'), "x", std::string(1000, 'y'), 2000, kNeverStopped),
      std::nullopt);
}

TEST(TextReplacement, TakesLinearTimeForTextThatRepeatsItself) {
  constexpr std::size_t kSize = std::size_t{2} << 20;
  const std::string text(2 * kSize, 'a');
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(Count(text, std::string(kSize, 'a')), 2U);
  EXPECT_EQ(Count(text, std::string(kSize, 'a') + 'b'), 0U);
  EXPECT_EQ(Count(text, 'b' + std::string(kSize, 'a')), 0U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30))
      << "quadratic, this takes more than ten minutes";
}

TEST(TextReplacement, CanBeCancelled) {
  const std::string text(std::size_t{16} << 20, 'x');
  const auto context = kNeverStopped.WithTimeout(std::chrono::milliseconds(1));
  EXPECT_THROW(FindOccurrences(text, "xy", context), support::Stopped);
  EXPECT_THROW(ReplaceOccurrences(text, "xy", "", kNoLimit, context), support::Stopped);
}

}  // namespace
}  // namespace files
