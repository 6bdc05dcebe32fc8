#include "configure/json_tree.h"

#include <gmock/gmock.h>

#include "configure/settings_error.h"

namespace configure {
namespace {

using ::testing::HasSubstr;

Json Read(const std::string& text) {
  return ValueOf(text, ParseJson(text));
}

struct Failure {
  std::size_t line;
  std::size_t column;
  std::string reason;
};

Failure FailureOf(const std::string& text) {
  try {
    (void)ParseJson(text);
  } catch (const SettingsError& error) {
    return {error.position().line, error.position().column, error.what()};
  }
  ADD_FAILURE() << "no error: " << text;
  return {};
}

TEST(ParseJson, ReadsEveryKindOfValue) {
  const std::string text = R"({"a": [1, -2.5e3, true, false, null, "x\"\u00e4"], "b": {}})";
  EXPECT_EQ(Read(text), Json::parse(text));
}

TEST(ParseJson, ReadsWhatAgentsAllowBeyondJson) {
  EXPECT_EQ(Read("\xEF\xBB\xBF// one\r\n{ /* two */ \"a\": [1, 2,], // three\n}\n/* four */"),
            Json::parse(R"({"a": [1, 2]})"));
  EXPECT_EQ(Read("{\"url\": \"https://x/*y*/\"}").at("url"), "https://x/*y*/");
}

TEST(ParseJson, ReadsHalvesOfSurrogatePairsAsJavaScriptDoes) {
  EXPECT_EQ(Read(R"("cut \ud83d")"), "cut \uFFFD");
  EXPECT_EQ(Read(R"("\uDE00 cut")"), "\uFFFD cut");
  EXPECT_EQ(Read(R"("\ud83d\ud83d\ude00\ude00")"), "\uFFFD\U0001F600\uFFFD");
  EXPECT_EQ(Read(R"("\ud83d\n\u00e4")"), "\uFFFD\n\u00e4");
  EXPECT_EQ(Read(R"("\\ud83d")"), R"(\ud83d)");
  EXPECT_EQ(Read(R"({"\ud83d": 1})").begin().key(), "\uFFFD");
  EXPECT_THAT(FailureOf(R"("\ud83")").reason, HasSubstr("no string"));
  EXPECT_THAT(FailureOf(R"("\u00g0")").reason, HasSubstr("no string"));
}

TEST(ParseJson, LastOfTwoMembersOfANameCounts) {
  const std::string text = R"({"a": 1, "a": 2})";
  EXPECT_EQ(Read(text), Json::parse(R"({"a": 2})"));
  const JsonNode root = ParseJson(text);
  EXPECT_EQ(ValueOf(text, FindMember(root, "a")->value), 2);
  EXPECT_EQ(FindMember(root, "b"), nullptr);
}

TEST(ParseJson, TellsWhereAndWhy) {
  const Failure bracket = FailureOf("{\n  \"a\": [1, 2\n}\n");
  EXPECT_EQ(bracket.line, 3U);
  EXPECT_EQ(bracket.column, 1U);
  EXPECT_THAT(bracket.reason, HasSubstr("']'"));
  const Failure comma = FailureOf("{\"a\": 1 \"b\": 2}");
  EXPECT_EQ(comma.column, 9U);
  EXPECT_THAT(comma.reason, HasSubstr("','"));
  EXPECT_THAT(FailureOf("{\"a\" 1}").reason, HasSubstr("':'"));
  EXPECT_THAT(FailureOf("{a: 1}").reason, HasSubstr("double quotes"));
  EXPECT_THAT(FailureOf("{\"a\": }").reason, HasSubstr("expected a value"));
  EXPECT_THAT(FailureOf("{\"a\": yes}").reason, HasSubstr("no value"));
  EXPECT_THAT(FailureOf("{\"a\": 01}").reason, HasSubstr("no value"));
  EXPECT_THAT(FailureOf("{\"a\": \"b\n\"}").reason, HasSubstr("never closed"));
  EXPECT_THAT(FailureOf("{\"a\": 1").reason, HasSubstr("never closed"));
  EXPECT_THAT(FailureOf("{} /* x").reason, HasSubstr("never closed"));
  EXPECT_THAT(FailureOf("{} {}").reason, HasSubstr("unexpected"));
  EXPECT_THAT(FailureOf("").reason, HasSubstr("expected a value"));
  EXPECT_THAT(FailureOf("{\"a\": \"\\x\"}").reason, HasSubstr("no string"));
  EXPECT_THAT(FailureOf("{\"a\": \"\xFF\"}").reason, HasSubstr("no string"));
  EXPECT_THAT(FailureOf("{\"a\": \"\\").reason, HasSubstr("never closed"));
}

TEST(ParseJson, RefusesWhatIsNestedTooDeeply) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_NO_THROW((void)ParseJson(nested(kMaximumJsonDepth)));
  EXPECT_NO_THROW((void)ParseJson(nested(kMaximumJsonDepth + 1)));
  EXPECT_THROW((void)ParseJson(nested(kMaximumJsonDepth + 2)), SettingsError);
  EXPECT_THROW((void)ParseJson(nested(1000000)), SettingsError);
}

}  // namespace
}  // namespace configure
