#include "support/utf8.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace support {
namespace {

using std::string_view_literals::operator""sv;

TEST(IsValidUtf8, TakesEveryLength) {
  EXPECT_TRUE(IsValidUtf8(""));
  EXPECT_TRUE(IsValidUtf8("plain\0text"sv));
  EXPECT_TRUE(IsValidUtf8("\x7F \xC2\x80 \xDF\xBF"));
  EXPECT_TRUE(IsValidUtf8("\xE0\xA0\x80 \xED\x9F\xBF \xEE\x80\x80 \xEF\xBF\xBF"));
  EXPECT_TRUE(IsValidUtf8("\xF0\x90\x80\x80 \xF4\x8F\xBF\xBF"));
}

TEST(IsValidUtf8, RefusesOverlongForms) {
  EXPECT_FALSE(IsValidUtf8("\xC0\xAF"));
  EXPECT_FALSE(IsValidUtf8("\xC1\xBF"));
  EXPECT_FALSE(IsValidUtf8("\xE0\x9F\xBF"));
  EXPECT_FALSE(IsValidUtf8("\xF0\x8F\xBF\xBF"));
}

TEST(IsValidUtf8, RefusesSurrogatesAndWhatIsAboveUnicode) {
  EXPECT_FALSE(IsValidUtf8("\xED\xA0\x80"));
  EXPECT_FALSE(IsValidUtf8("\xF4\x90\x80\x80"));
  EXPECT_FALSE(IsValidUtf8("\xF5\x80\x80\x80"));
  EXPECT_FALSE(IsValidUtf8("\xFF"));
}

TEST(IsValidUtf8, RefusesCutAndStraySequences) {
  EXPECT_FALSE(IsValidUtf8("\xC3"));
  EXPECT_FALSE(IsValidUtf8("\xE2\x82"));
  EXPECT_FALSE(IsValidUtf8("\xE2\x82z"));
  EXPECT_FALSE(IsValidUtf8("\xF0\x9F\x98"));
  EXPECT_FALSE(IsValidUtf8("\x80"));
}

TEST(DecodeUtf8, ValidTextStaysAsItIs) {
  for (const std::string& text :
       {std::string(), std::string("plain ASCII of more than eight bytes"), std::string("a\0b", 3),
        std::string("\xEF\xBB\xBF"
                    "byte order mark\r\n"),
        std::string("ä日😀\x7F"),
        std::string("\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xF0\x90\x80\x80"),
        std::string("\xF4\x8F\xBF\xBF")}) {
    const DecodedText decoded = DecodeUtf8(text);
    EXPECT_EQ(decoded.text, text);
    EXPECT_EQ(decoded.replaced, 0U);
    EXPECT_EQ(ValidUtf8Prefix(text), text.size());
  }
}

TEST(DecodeUtf8, EachByteThatIsNotUtf8BecomesOneReplacementCharacter) {
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
      {"\xE0\x9F\xBF", r + r + r},          // likewise
      {"\xED\xA0\x80", r + r + r},          // surrogate
      {"\xF4\x90\x80\x80", r + r + r + r},  // above U+10FFFF
      {"\xF5\x80", r + r},                  //
      {"\x80", r},                          // continuation alone
      {"12345678\xFF"
       "12345678",
       "12345678" + r + "12345678"},
  };
  for (const auto& [bytes, text] : cases) {
    const DecodedText decoded = DecodeUtf8(bytes);
    EXPECT_EQ(decoded.text, text);
    EXPECT_GT(decoded.replaced, 0U);
    EXPECT_EQ(ToUtf8(bytes), text);
  }
}

}  // namespace
}  // namespace support
