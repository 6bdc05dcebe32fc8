#include "configure/json_text.h"

#include <gmock/gmock.h>

#include <functional>

namespace configure {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ParseJson, ReadsEveryKindOfValue) {
  const std::string text = R"({"a": [1, -2.5e3, true, false, null, "x\"\u00e4"], "b": {}})";
  EXPECT_EQ(ParseJson(text), Json::parse(text));
}

TEST(ParseJson, ReadsCommentsAndTrailingCommas) {
  EXPECT_EQ(ParseJson("// one\r\n{ /* two */ \"a\": [1, 2,], // three\n}\n/* four */"),
            Json::parse(R"({"a": [1, 2]})"));
  EXPECT_EQ(ParseJson("{\"url\": \"https://x/*y*/\"}").at("url"), "https://x/*y*/");
}

TEST(ParseJson, ReadsHalvesOfSurrogatePairsAsJavaScriptWritesThem) {
  const std::string text = R"({"a": "cut \ud83d", "b": 1})";
  EXPECT_EQ(ParseJson(text).at("b"), 1);
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
      {"{\"a\": 01}", ":1:7: ", "not a JSON value"},
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
    } catch (const support::CallError& error) {
      EXPECT_THAT(error.what(), AllOf(StartsWith(each.place), HasSubstr(each.reason)));
    }
  }
}

/// The text after `change` of its value.
std::string Changed(const std::string& text, const std::function<void(Json&)>& change) {
  Json value = ParseJson(text);
  change(value);
  return Rewrite(text, value);
}

TEST(Rewrite, RefusesNamesThatAreThereTwice) {
  const std::string text = "{\"a\": {\"b\": 1,\n\"b\": 2}, \"c\": 1}";
  EXPECT_EQ(Changed(text, [](Json& value) { value["c"] = 2; }),
            "{\"a\": {\"b\": 1,\n\"b\": 2}, \"c\": 2}");
  EXPECT_THROW((void)Changed(text, [](Json& value) { value["a"]["b"] = 1; }), support::CallError);
  EXPECT_THROW((void)Changed(text, [](Json& value) { value["a"].erase("b"); }), support::CallError);
}

TEST(Rewrite, ReplacesValuesInTheirLayout) {
  EXPECT_EQ(Changed("{\"a\": [1, 2], \"b\": {\"c\": 1}}",
                    [](Json& value) {
                      value["a"] = {1, 3, 4};
                    }),
            "{\"a\": [1, 3, 4], \"b\": {\"c\": 1}}");
  EXPECT_EQ(Changed("{\"b\": {\"c\": 1}, \"a\": 2}", [](Json& value) { value["b"]["c"] = "d"; }),
            "{\"b\": {\"c\": \"d\"}, \"a\": 2}");
  EXPECT_EQ(Changed("{\n    \"a\": [\n      1 // one\n    ]\n}",
                    [](Json& value) {
                      value["a"] = {1, 2};
                    }),
            "{\n    \"a\": [\n      1, // one\n      2\n    ]\n}");
  EXPECT_EQ(Changed("{\"a\": 1}", [](Json& value) { value["a"] = {1, 2}; }), "{\"a\": [1,2]}");
}

TEST(Rewrite, MakesSeveralChanges) {
  const std::string before = "{\n  \"a\": 1, // one\n  \"b\": {\"c\": [1, 2, 3]},\n  \"d\": 4\n}\n";
  const Json after = Json::parse(R"({"b": {"c": [2, 4], "e": 5}, "d": "x", "a": 2})");
  const std::string text =
      "{\n  // one\n  \"b\": {\"c\": [2, 4], \"e\": 5},\n  \"d\": \"x\",\n  \"a\": 2\n}\n";
  EXPECT_EQ(Rewrite(before, after), text);
  EXPECT_EQ(Rewrite(text, after), text);
}

TEST(PlaceOf, CountsLinesAndCharacters) {
  EXPECT_EQ(PlaceOf("{\n \"\xC3\xA4\": [1, 2]}", JsonPath("/\xC3\xA4/1")), ":2:11");
  EXPECT_EQ(PlaceOf("{\"a\": 1}", JsonPath("/a/missing")), ":1:7");
}

struct Insertion {
  std::string before;
  Json value;
  std::string after;
};

class Insertions : public ::testing::TestWithParam<Insertion> {};

TEST_P(Insertions, LooksLikeTheRestAndIsUndone) {
  const auto& [before, value, after] = GetParam();
  const Json old = ParseJson(before);
  Json added = old;
  added[JsonPath(old.is_object() ? "/b" : "/-")] = value;
  EXPECT_EQ(Rewrite(before, added), after);
  EXPECT_EQ(Rewrite(after, old), before);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, Insertions,
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
        Insertion{"{\r\n  \"a\": 1 // x\r\n}\r\n",
                  {{"c", 2}},
                  "{\r\n  \"a\": 1, // x\n  \"b\": {\n    \"c\": 2\n  }\r\n}\r\n"},
        // Into an empty container.
        Insertion{"{}", 2, "{\n  \"b\": 2\n}"}, Insertion{"[]", 2, "[\n  2\n]"}));

TEST(Rewrite, LeavesValidTextAndComments) {
  const std::vector<std::tuple<std::string, Json, std::string>> cases = {
      {"{\n  \"a\": 1, // one\n  \"b\": 2\n}", {{"b", 2}}, "{\n  // one\n  \"b\": 2\n}"},
      {"{\n  // before\n  \"a\": 1,\n  \"b\": 2\n}", {{"b", 2}}, "{\n  // before\n  \"b\": 2\n}"},
      {"{\n  \"a\": 1, // one\n  \"b\": 2 }", {{"a", 1}}, "{\n  \"a\": 1 // one\n   }"},
      {"{ // one\r\n  \"a\": 1 }", Json::object(), "{ // one\r\n   }"},
      {"[1, 2, 3]", {2, 3}, "[2, 3]"},
      {"[1, 2, 3]", {1, 3}, "[1, 3]"},
      {"[1, 2, 3]", {1, 2}, "[1, 2]"},
      {"[1, /* x */ 2, 3]", {1, 3}, "[1, /* x */ 3]"},
      {"[1 /* one */, 2 /* two */]", Json::array({2}), "[2 /* two */]"},
      {"[1]", Json::array(), "[]"},
  };
  for (const auto& [before, value, after] : cases) EXPECT_EQ(Rewrite(before, value), after);
}

}  // namespace
}  // namespace configure
