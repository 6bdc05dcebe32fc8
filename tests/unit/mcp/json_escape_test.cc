#include "mcp/json_escape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace mcp {
namespace {

using nlohmann::json;

std::string Escaped(std::string_view text, Escaping escaping) {
  std::string out;
  AppendEscaped(out, text, escaping);
  return out;
}

std::string EveryAsciiByte() {
  std::string bytes;
  for (int c = 0; c < 128; ++c) bytes += static_cast<char>(c);
  return bytes;
}

std::string Unquoted(const std::string& text) {
  return text.substr(1, text.size() - 2);
}

TEST(JsonEscape, OnceIsTheContentOfAString) {
  const std::string text = EveryAsciiByte() + "é 😀";
  EXPECT_EQ(Escaped(text, Escaping::kOnce), Unquoted(json(text).dump()));
}

TEST(JsonEscape, TwiceIsOnceOfOnce) {
  const std::string text = EveryAsciiByte() + "é 😀";
  EXPECT_EQ(Escaped(text, Escaping::kTwice), Unquoted(json(Unquoted(json(text).dump())).dump()));
}

TEST(JsonEscape, EveryPairOfBytesIsEscapedWhereverItStands) {
  const std::string bytes = EveryAsciiByte() + "\x80\xa0\xa2\xdc\xff";
  std::string text;
  std::string expected;
  for (const char first : bytes) {
    for (const char second : bytes) {
      // Eleven bytes: the pair comes at each place of a word of eight.
      const std::string piece = std::string("plain") + first + second + "text";
      text += piece;
      for (const char c : piece) {
        const bool is_ascii = static_cast<unsigned char>(c) < 0x80;
        expected += is_ascii ? Unquoted(json(std::string(1, c)).dump()) : std::string(1, c);
      }
    }
  }
  EXPECT_TRUE(Escaped(text, Escaping::kOnce) == expected);
}

TEST(JsonEscape, NoneLeavesItAsItIs) {
  EXPECT_EQ(Escaped("\"\\\n", Escaping::kNone), "\"\\\n");
}

TEST(JsonEscape, TextMayBeCutAnywhere) {
  const std::string text = "tab\there \"quoted\" \\ é 😀\x01 end";
  for (const Escaping escaping : {Escaping::kOnce, Escaping::kTwice}) {
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      EXPECT_EQ(Escaped(text.substr(0, cut), escaping) + Escaped(text.substr(cut), escaping),
                Escaped(text, escaping));
    }
  }
}

TEST(JsonEscape, NoByteBecomesMoreThanTheLongest) {
  std::size_t longest = 0;
  for (const char byte : EveryAsciiByte()) {
    longest = std::max(longest, Escaped(std::string(1, byte), Escaping::kTwice).size());
  }
  EXPECT_EQ(longest, kLongestEscape);
}

TEST(JsonEscape, LongTextsOfTheLongestEscapes) {
  const std::string text(100'000, '\x1f');
  std::string expected;
  for (std::size_t i = 0; i < text.size(); ++i) expected += "\\\\u001f";
  EXPECT_EQ(Escaped(text, Escaping::kTwice), expected);
}

}  // namespace
}  // namespace mcp
