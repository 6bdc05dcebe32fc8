// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/encoding.h"
#include "support/format.h"
#include "support/printable.h"
#include "support/units.h"
#include "support/utf8.h"
#include "support/version.h"
#include "support/words.h"

namespace support {
namespace {

using std::chrono::milliseconds;
using std::string_view_literals::operator""sv;

TEST(Words, AreBetweenSpaces) {
  EXPECT_EQ(Words(" a  b\nc "), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_TRUE(Words("").empty());
}

TEST(Printable, EscapesWhatIsNotSafeForATerminal) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      // control characters
      {"a\x1b[2Jb\nc\x7f", "a\\x1b[2Jb\\x0ac\\x7f"},
      {std::string(1, '\0'), "\\x00"},
      {"a\u0080\u009b2J\u009fb\u00a0", "a\\xc2\\x80\\xc2\\x9b2J\\xc2\\x9fb\u00a0"},
      // marks of direction, and their neighbours
      {"\u202a\u202e\u2066\u2069", "\\xe2\\x80\\xaa\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xe2\\x81\\xa9"},
      {"\u061c\u200e\u200f", "\\xd8\\x9c\\xe2\\x80\\x8e\\xe2\\x80\\x8f"},
      {"\u2028\u2029\u206a", "\\xe2\\x80\\xa8\\xe2\\x80\\xa9\\xe2\\x81\\xaa"},
      {"\u061b\u061d\u200d\u2010\u2027\u202f\u2065\u2070",
       "\u061b\u061d\u200d\u2010\u2027\u202f\u2065\u2070"},
      // not UTF-8
      {"a\x9b\xff z\xc3", "a\\x9b\\xff z\\xc3"},
      {"/home/zoë \\x00 日本 🙂", "/home/zoë \\x00 日本 🙂"},
      {"", ""}};
  for (const auto& [text, printable] : cases) EXPECT_EQ(Printable(text), printable);
}

TEST(Printable, KeepsTheCharactersThatItIsTold) {
  EXPECT_EQ(Printable("a\n\tb\r\x1b", "\n\t"), "a\n\tb\\x0d\\x1b");
}

TEST(ParseDuration, ReadsEachUnitAndTheirSumsUpToAThousandHours) {
  const std::vector<std::pair<const char*, std::int64_t>> cases = {
      {"0", 0},          {"250ms", 250},   {"90s", 90'000},        {"10m", 600'000},
      {"1h", 3'600'000}, {"1m0s", 60'000}, {"1h30m5s", 5'405'000}, {"1000h", 3'600'000'000}};
  for (const auto& [text, count] : cases) EXPECT_EQ(ParseDuration(text), milliseconds(count));
  for (const char* text : {"", "10", "m", "-1s", "1.5h", "1d", "1h ", " 1h", "1hh",
                           "99999999999999999999s", "1000h1ms", "1001h"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
  }
}

TEST(FormatDuration, LeavesOutWhatIsZero) {
  EXPECT_EQ(FormatDuration(milliseconds(540'000)), "9m");
  EXPECT_EQ(FormatDuration(milliseconds(3'600'000)), "1h");
  EXPECT_EQ(FormatDuration(milliseconds(3'605'000)), "1h5s");
  EXPECT_EQ(FormatDuration(milliseconds(45'000)), "45s");
  EXPECT_EQ(FormatDuration(milliseconds(1'050)), "1.050s");
  EXPECT_EQ(FormatDuration(milliseconds(0)), "0s");
}

TEST(ParseByteCount, ReadsPlainNumbersAndUnits) {
  const std::vector<std::pair<const char*, std::uint64_t>> cases = {
      {"262144", 262144}, {"256K", 262144},     {"256KiB", 262144},
      {"1M", 1048576},    {"2GiB", 2147483648}, {"0", 0}};
  for (const auto& [text, bytes] : cases) EXPECT_EQ(ParseByteCount(text), bytes);
  for (const char* text :
       {"", "K", "-1", "1.5M", "1KB", "1 K", "18446744073709551616", "18446744073709551615K"}) {
    EXPECT_EQ(ParseByteCount(text), std::nullopt) << text;
  }
}

TEST(FormatByteCount, NamesTheLargestUnitThatDividesEvenly) {
  EXPECT_EQ(FormatByteCount(262144), "256KiB");
  EXPECT_EQ(FormatByteCount(33554432), "32MiB");
  EXPECT_EQ(FormatByteCount(1000), "1000 bytes");
  EXPECT_EQ(FormatByteCount(1), "1 byte");
  EXPECT_EQ(FormatByteCount(0), "0 bytes");
}

TEST(FormatDate, IsRfc3339InUtcWithMilliseconds) {
  const auto date = [](std::int64_t since_epoch) {
    return FormatDate(std::chrono::system_clock::time_point(milliseconds(since_epoch)));
  };
  EXPECT_EQ(date(1'769'860'800'007), "2026-01-31T12:00:00.007Z");
  EXPECT_EQ(date(-1), "1969-12-31T23:59:59.999Z");
}

TEST(DecodeUtf8, KeepsValidText) {
  for (const std::string_view text :
       {""sv, "plain ASCII of more than eight bytes"sv, "a\0b"sv,
        "\xEF\xBB\xBFthe byte order mark\r\n"sv, "ä日😀\x7F"sv,
        "\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF"sv,
        "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF"sv}) {
    const DecodedText decoded = DecodeUtf8(text);
    EXPECT_EQ(decoded.text, text);
    EXPECT_EQ(decoded.replaced, 0U);
    EXPECT_EQ(ValidUtf8Prefix(text), text.size());
    EXPECT_TRUE(IsValidUtf8(text));
  }
}

TEST(DecodeUtf8, ReplacesEachInvalidByte) {
  const std::string r(kReplacementCharacter);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a\xFFz", "a" + r + "z"},
      {"caf\xE9", "caf" + r},  // Latin-1
      {"\xC3", r},             // cut
      {"\xE2\x82", r + r},
      {"\xF0\x9F\x98", r + r + r},
      {"\xE2\x82z", r + r + "z"},  // cut by another character
      {"\xC0\xAF", r + r},         // longer than needed
      {"\xC1\xBF", r + r},
      {"\xE0\x9F\xBF", r + r + r},
      {"\xF0\x8F\xBF\xBF", r + r + r + r},
      {"\xED\xA0\x80", r + r + r},          // surrogate
      {"\xF4\x90\x80\x80", r + r + r + r},  // above U+10FFFF
      {"\xF5\x80\x80\x80", r + r + r + r},
      {"\x80", r},  // continuation alone
      {"12345678\xFFz2345678", "12345678" + r + "z2345678"}};
  for (const auto& [bytes, text] : cases) {
    const DecodedText decoded = DecodeUtf8(bytes);
    EXPECT_EQ(decoded.text, text);
    EXPECT_GT(decoded.replaced, 0U);
    EXPECT_FALSE(IsValidUtf8(bytes));
    EXPECT_EQ(ToUtf8(bytes), text);
  }
}

TEST(EncodeHex, HasTwoDigitsForEachByte) {
  EXPECT_EQ(EncodeHex(std::string_view("\0\x1f\xff", 3)), "001fff");
}

TEST(EncodeBase64, FollowsRfc4648) {
  const std::vector<std::pair<std::string_view, std::string>> cases = {{"", ""},
                                                                       {"f", "Zg=="},
                                                                       {"fo", "Zm8="},
                                                                       {"foo", "Zm9v"},
                                                                       {"foobar", "Zm9vYmFy"},
                                                                       {"\0\xFF\xFE"sv, "AP/+"},
                                                                       {"\xFB\xEF\xBE"sv, "++++"}};
  for (const auto& [bytes, text] : cases) EXPECT_EQ(EncodeBase64(bytes), text);
}

TEST(Release, IsTheFirstOneInTheText) {
  EXPECT_EQ(ParseRelease("2.1.330 (Claude Code)"), (Release{2, 1, 330}));
  EXPECT_EQ(ParseRelease("codex-cli 0.169.0\n"), (Release{0, 169, 0}));
  EXPECT_EQ(ParseRelease("1.18.33-beta.1"), (Release{1, 18, 33}));
  for (const char* text : {"", "no version", "1.2", "1", "99999999999.0.0", "1.2."}) {
    EXPECT_FALSE(ParseRelease(text)) << text;
  }
  EXPECT_LT((Release{2, 1, 99}), (Release{2, 1, 330}));
  EXPECT_LT((Release{0, 160, 0}), (Release{1, 0, 0}));
  EXPECT_EQ(ToString({2, 1, 330}), "2.1.330");
}

TEST(Format, PutsValuesInTheirPlaces) {
  EXPECT_EQ(Format("nothing"), "nothing");
  EXPECT_EQ(Format("{} of {}, {}", 3, std::string("seven"), std::string_view("{}")),
            "3 of seven, {}");
  EXPECT_EQ(Format("{}{}", -1, std::size_t{2}), "-12");
}

}  // namespace
}  // namespace support
