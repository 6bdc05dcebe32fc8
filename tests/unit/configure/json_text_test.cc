#include "configure/json_text.h"

#include <gmock/gmock.h>

namespace configure {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Json Read(const std::string& text) {
  return ValueOf(text, ParseJson(text));
}

TEST(ParseJson, ReadsEveryKindOfValue) {
  const std::string text = R"({"a": [1, -2.5e3, true, false, null, "x\"\u00e4"], "b": {}})";
  EXPECT_EQ(Read(text), Json::parse(text));
}

TEST(ParseJson, ReadsCommentsTrailingCommasAndAByteOrderMark) {
  EXPECT_EQ(Read("\xEF\xBB\xBF// one\r\n{ /* two */ \"a\": [1, 2,], // three\n}\n/* four */"),
            Json::parse(R"({"a": [1, 2]})"));
  EXPECT_EQ(Read("{\"url\": \"https://x/*y*/\"}").at("url"), "https://x/*y*/");
}

TEST(ParseJson, ReadsHalvesOfSurrogatePairsAsJavaScriptWritesThem) {
  const std::string text = R"({"a": "cut \ud83d", "b": 1})";
  EXPECT_EQ(Read(text).at("b"), 1);
}

TEST(ParseJson, ReportsPlaceAndReason) {
  struct Case {
    std::string text;
    std::string place;
    std::string reason;
  };
  const std::vector<Case> cases = {
      {"{\n  \"a\": [1, 2\n}\n", ":3:1: ", "']'"},
      {"{\"a\": 1 \"b\": 2}", ":1:9: ", "','"},
      {"{\"a\" 1}", ":1:6: ", "':'"},
      {"{a: 1}", ":1:2: ", "double quotes"},
      {"{\"a\": }", ":1:7: ", "expected a value"},
      {"{\"\xC3\xA4\": yes}", ":1:7: ", "not a JSON value"},
      {"\xEF\xBB\xBF{\"a\": 01}", ":1:7: ", "not a JSON value"},
      {"{\"a\": \"b\n\"}", ":1:7: ", "never closed"},
      {"{\"a\": \"\\", ":1:7: ", "never closed"},
      {"{\"a\": 1", ":1:1: ", "never closed"},
      {"{} /* x", ":1:4: ", "never closed"},
      {"{} {}", ":1:4: ", "unexpected"},
      {"", ":1:1: ", "expected a value"},
      {"{\"a\": \"\xFF\"}", ":1:8: ", "not UTF-8"},
      {std::string(1000000, '['), ":1:102: ", "too deeply"},
  };
  for (const Case& each : cases) {
    try {
      (void)ParseJson(each.text);
      ADD_FAILURE() << "no error: " << each.text;
    } catch (const SettingsError& error) {
      EXPECT_THAT(error.what(), AllOf(StartsWith(each.place), HasSubstr(each.reason)));
    }
  }
}

TEST(Find, RefusesNamesThatAreThereTwice) {
  const std::string text = "{\"a\": {\"b\": 1,\n\"b\": 2}}";
  const JsonNode root = ParseJson(text);
  EXPECT_EQ(Find(text, root, {"a", "c"}).depth, 1U);
  EXPECT_THROW((void)Find(text, root, {"a", "b"}), SettingsError);
}

struct Insertion {
  std::string before;
  Json value;
  std::string after;
};

class InsertItemTest : public ::testing::TestWithParam<Insertion> {};

TEST_P(InsertItemTest, LooksLikeTheRestAndIsUndone) {
  const auto& [before, value, after] = GetParam();
  const JsonNode root = ParseJson(before);
  EXPECT_EQ(InsertItem(before, root, "b", value), after);
  const JsonNode changed = ParseJson(after);
  EXPECT_EQ(EraseItem(after, changed, changed.items.back()), before);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, InsertItemTest,
    ::testing::Values(
        // On a line of its own, or on that of the others.
        Insertion{"{\n    \"a\": 1\n}\n", 2, "{\n    \"a\": 1,\n    \"b\": 2\n}\n"},
        Insertion{
            "{\n\t\"a\": 1\n}", {{"c", 2}}, "{\n\t\"a\": 1,\n\t\"b\": {\n\t  \"c\": 2\n\t}\n}"},
        Insertion{"{\"a\": 1}", {{"c", {1, 2}}}, "{\"a\": 1, \"b\": {\"c\":[1,2]}}"},
        Insertion{"[\n  1\n]", 2, "[\n  1,\n  2\n]"}, Insertion{"[ 1 ]", 2, "[ 1, 2 ]"},
        // With a trailing comma.
        Insertion{"{\n  \"a\": 1,\n}", 2, "{\n  \"a\": 1,\n  \"b\": 2,\n}"},
        Insertion{"[1,]", 2, "[1, 2,]"},
        // With comments.
        Insertion{"{\n  \"a\": 1 // one\n  // end\n}", 2,
                  "{\n  \"a\": 1, // one\n  \"b\": 2\n  // end\n}"},
        Insertion{"{\n  \"a\": 1, /* x */ // one\n}", 2,
                  "{\n  \"a\": 1, /* x */ // one\n  \"b\": 2,\n}"},
        Insertion{"{\n  // nothing\n}\n", 2, "{\n  // nothing\n  \"b\": 2\n}\n"},
        // With other line ends.
        Insertion{"\xEF\xBB\xBF{\r\n  \"a\": 1 // x\r\n}\r\n",
                  {{"c", 2}},
                  "\xEF\xBB\xBF{\r\n  \"a\": 1, // x\n  \"b\": {\n    \"c\": 2\n  }\r\n}\r\n"},
        // Into an empty container.
        Insertion{"{}", 2, "{\n  \"b\": 2\n}"}, Insertion{"[]", 2, "[\n  2\n]"}));

TEST(EraseItem, LeavesTheRestValid) {
  const std::vector<std::tuple<std::string, std::size_t, std::string>> cases = {
      {"{\n  \"a\": 1, // one\n  \"b\": 2\n}", 0, "{\n  // one\n  \"b\": 2\n}"},
      {"{\n  // before\n  \"a\": 1,\n  \"b\": 2\n}", 0, "{\n  // before\n  \"b\": 2\n}"},
      {"{\n  \"a\": 1, // one\n  \"b\": 2 }", 1, "{\n  \"a\": 1 // one\n   }"},
      {"{ // one\r\n  \"a\": 1 }", 0, "{ // one\r\n   }"},
      {"[1, 2, 3]", 0, "[2, 3]"},
      {"[1, 2, 3]", 1, "[1, 3]"},
      {"[1, 2, 3]", 2, "[1, 2]"},
      {"[1]", 0, "[]"},
  };
  for (const auto& [before, index, after] : cases) {
    const JsonNode root = ParseJson(before);
    EXPECT_EQ(EraseItem(before, root, root.items.at(index)), after);
    EXPECT_NO_THROW((void)ParseJson(after));
  }
}

}  // namespace
}  // namespace configure
