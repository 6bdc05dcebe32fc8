#include "mcp/json_unescape.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "mcp/json_reader.h"

namespace mcp {
namespace {

using nlohmann::json;

/// What nlohmann's parser makes of a string with this between its quotes.
std::optional<std::string> AsNlohmannReads(const std::string& escaped) {
  const json value = json::parse("\"" + escaped + "\"", nullptr, false);
  if (!value.is_string()) return std::nullopt;
  return value.get<std::string>();
}

TEST(JsonUnescape, TextsAreWhatTheyMean) {
  for (const std::string text :
       {R"()", R"(plain)", R"(\"\\\/\b\f\n\r\t)", R"(\u0000\u001f\u0020\u007f\u0080\u07ff\u0800)",
        R"(\uFFFF\uffFe\ud83d\ude00\udbff\udfff)", R"(é 😀 \u00e9)", R"(eight ch\neight ch)",
        R"(\\\\\\\\\\)"}) {
    EXPECT_EQ(Unescape(text), AsNlohmannReads(text)) << text;
    EXPECT_TRUE(Unescape(text)) << text;
  }
}

TEST(JsonUnescape, WhatIsNoStringIsRefused) {
  using std::string;
  for (const string& text : {string("\""),          string("a\nb"),
                             string("\x1f"),        string("a\0b", 3),
                             string("\\"),          string("\\x"),
                             string("\\u"),         string("\\u12"),
                             string("\\u12g4"),     string("\\u-123"),
                             string("\\ud83d"),     string("\\ud83dx"),
                             string("\\ud83d\\n"),  string("\\ud83d\\u0041"),
                             string("\\ude00"),     string("\\ud83d\\ud83d"),
                             string("\xff"),        string("\xc3"),
                             string("\xc3\\u00a9"), string("\xed\xa0\x80"),
                             string("\xc0\x80"),    string("\xa9")}) {
    EXPECT_EQ(Unescape(text), std::nullopt)
        << json(text).dump(-1, ' ', true, json::error_handler_t::replace);
    EXPECT_EQ(AsNlohmannReads(text), std::nullopt);
  }
}

TEST(JsonUnescape, HalvesOfSurrogatePairsAreMended) {
  struct Case {
    std::string text;
    std::string mended;
    std::size_t first;
  };
  const std::vector<Case> cases = {
      {R"("\ud83d")", R"("\ufffd")", 1},
      {R"("\ude00")", R"("\ufffd")", 1},
      {R"("\uDBFFx")", R"("\ufffdx")", 1},
      {R"("ab\ud83d\n")", R"("ab\ufffd\n")", 3},
      {R"("\ud83d\u0041")", R"("\ufffd\u0041")", 1},
      {R"("\ud83d\ud83d\ude00\ude00")", R"("\ufffd\ud83d\ude00\ufffd")", 1},
      {R"("\\\ud83d")", R"("\\\ufffd")", 3},
      {R"({"\ud83d":"\udc00"})", R"({"\ufffd":"\ufffd"})", 2},
  };
  for (const Case& one : cases) {
    const std::optional<MendedText> mended = MendHalfPairs(one.text);
    ASSERT_TRUE(mended) << one.text;
    EXPECT_EQ(mended->text, one.mended);
    EXPECT_EQ(mended->first, one.first) << one.text;
  }
}

TEST(JsonUnescape, WhatHasNoHalfOfASurrogatePairIsNotMended) {
  for (const std::string text : {R"()", R"("plain")", R"("\ud83d\ude00")", R"("\\ud83d")",
                                 R"("\u00e9\uffff")", R"("\ud83")", R"("\ud83)", R"(\u)", R"(\)"}) {
    EXPECT_FALSE(MendHalfPairs(text)) << text;
  }
}

TEST(JsonUnescape, EscapesMayStandAnywhereInALongText) {
  for (const std::string escape : {"\\n", "\\u00e9", "\\ud83d\\ude00", "é", "\\\\", "\\\""}) {
    for (std::size_t before = 0; before < 20; ++before) {
      std::string text;
      for (int i = 0; i < 1000; ++i) text += std::string(before, 'x') + escape;
      EXPECT_EQ(Unescape(text), AsNlohmannReads(text)) << escape << " after " << before;
    }
  }
}

TEST(JsonUnescape, LongStringsAreFoundWhereTheyStand) {
  const std::string below(kLongString - 1, 's');
  const std::string at(kLongString, 'l');
  const std::string escaped = std::string(kLongString, 'q') + R"(\"\\)";
  const std::string text =
      R"({"a\"":")" + below + R"(","b":")" + at + R"(",")" + escaped + R"(":[")" + at + R"("]})";
  const std::vector<LongString> found = FindLongStrings(text);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].begin, text.find(at));
  EXPECT_EQ(found[0].end, found[0].begin + at.size());
  EXPECT_EQ(found[0].text, at);
  EXPECT_EQ(found[1].text, std::string(kLongString, 'q') + R"("\)");
  EXPECT_EQ(found[2].text, at);
}

TEST(JsonUnescape, StringsThatMeanNothingAreNotFound) {
  const std::string bad = std::string(kLongString, 'x') + "\\x";
  EXPECT_TRUE(FindLongStrings("\"" + bad + "\"").empty());
  EXPECT_TRUE(FindLongStrings("\"" + std::string(kLongString, 'x')).empty());
}

// The parser behind ParseJson does not see long strings. Whatever stands around and in them, values
// and the places of mistakes are to be those of the parser that sees all.
class Sample {
 public:
  explicit Sample(unsigned seed) : random_(seed) {}

  std::string Document() {
    std::string text = Value(3);
    for (std::size_t changes = Below(4); changes > 0 && !text.empty(); --changes) Change(text);
    return text;
  }

 private:
  std::size_t Below(std::size_t limit) { return random_() % limit; }

  std::string String() {
    static const std::vector<std::string> kPieces = {
        "x", "plain text ", "\\n", "\\\"", "\\\\", "\\u00e9", "\\ud83d\\ude00", "é", "/", " "};
    const std::size_t length = Below(3) == 0 ? kLongString - 8 + Below(16) : Below(12);
    std::string text = "\"";
    while (text.size() < length) text += kPieces[Below(kPieces.size())];
    return text + "\"";
  }

  std::string Value(int depth) {
    const std::size_t kind = Below(depth == 0 ? 4 : 8);
    if (kind == 0) return std::to_string(Below(1000));
    if (kind == 1) return "true";
    if (kind < 4) return String();
    const bool object = kind < 7;
    std::string text = object ? "{" : "[";
    for (std::size_t i = Below(5); i > 0; --i) {
      if (object) text += String() + ": ";
      text += Value(depth - 1);
      if (i > 1) text += ",";
    }
    return text + (object ? "}" : "]");
  }

  void Change(std::string& text) {
    static const std::string kBytes = std::string("\"\\{}[],:x \n\x01\xff\xc3u0", 16);
    const std::size_t at = Below(text.size());
    const char byte = kBytes[Below(kBytes.size())];
    switch (Below(3)) {
      case 0:
        text.erase(at, 1);
        break;
      case 1:
        text.insert(at, 1, byte);
        break;
      default:
        text[at] = byte;
    }
  }

  std::mt19937 random_;
};

TEST(JsonUnescape, ReadingIsWhatItWouldBeWithoutIt) {
  int good = 0;
  int bad = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    const std::string text = Sample(seed).Document();
    const JsonText ours = ParseJson(text);
    try {
      const json expected = json::parse(text);
      EXPECT_EQ(ours.problem, JsonText::Problem::kNone) << "seed " << seed;
      EXPECT_EQ(ours.value, expected) << "seed " << seed;
      ++good;
    } catch (const json::parse_error& error) {
      ++bad;
      if (ours.problem == JsonText::Problem::kHalfPair) {
        const std::optional<MendedText> mended = MendHalfPairs(text);
        ASSERT_TRUE(mended) << "seed " << seed;
        EXPECT_EQ(ours.value, json::parse(mended->text)) << "seed " << seed;
        continue;
      }
      EXPECT_EQ(ours.explanation, "not valid JSON at byte " + std::to_string(error.byte))
          << "seed " << seed;
    }
  }
  EXPECT_GT(good, 1000);
  EXPECT_GT(bad, 1000);
}

}  // namespace
}  // namespace mcp
