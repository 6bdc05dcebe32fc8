#include "support/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace support {
namespace {

using std::string_view_literals::operator""sv;

TEST(DecodeUtf8, KeepsValidText) {
  for (const std::string& text :
       {std::string(), std::string("plain ASCII of more than eight bytes"), std::string("a\0b", 3),
        std::string("\xEF\xBB\xBF"
                    "byte order mark\r\n"),
        std::string("ä日😀\x7F"),
        std::string("\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF"),
        std::string("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF")}) {
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
      {"a\xFF"
       "b",
       "a" + r + "b"},
      {"caf\xE9", "caf" + r},  // Latin-1
      {"\xC3", r},             // cut
      {"\xE2\x82", r + r},     // cut
      {"\xE2\x82"
       "a",
       r + r + "a"},                        // cut by another character
      {"\xC0\xAF", r + r},                  // longer than needed
      {"\xC1\xBF", r + r},                  // likewise
      {"\xF0\x8F\xBF\xBF", r + r + r + r},  // likewise
      {"\xF0\x9F\x98", r + r + r},          // cut
      {"\xE0\x9F\xBF", r + r + r},          // likewise
      {"\xED\xA0\x80", r + r + r},          // surrogate
      {"\xF4\x90\x80\x80", r + r + r + r},  // above U+10FFFF
      {"\xF5\x80\x80\x80", r + r + r + r},  // likewise
      {"\x80", r},                          // continuation alone
      {"12345678\xFF"
       "12345678",
       "12345678" + r + "12345678"},
  };
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
  for (const auto& [bytes, text] :
       std::vector<std::pair<std::string_view, std::string>>{{"", ""},
                                                             {"f", "Zg=="},
                                                             {"fo", "Zm8="},
                                                             {"foo", "Zm9v"},
                                                             {"foobar", "Zm9vYmFy"},
                                                             {"\0\xFF\xFE"sv, "AP/+"},
                                                             {"\xFB\xEF\xBE"sv, "++++"}}) {
    EXPECT_EQ(EncodeBase64(bytes), text);
  }
}

}  // namespace
}  // namespace support
