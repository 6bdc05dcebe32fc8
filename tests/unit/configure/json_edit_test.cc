#include "configure/json_edit.h"

#include <gtest/gtest.h>

namespace configure {
namespace {

/// Adds to the root, checks that taking it away again gives the old text, and returns the new one.
std::string Inserted(const std::string& text, const std::vector<NewItem>& items) {
  const JsonNode root = ParseJson(text);
  const std::string changed = InsertItems(text, LayoutOf(text, root), root, items);
  std::string back = changed;
  for (std::size_t left = items.size(); left > 0; --left) {
    const JsonNode tree = ParseJson(back);
    back = EraseItem(back, tree, tree.items.size() - 1);
  }
  EXPECT_EQ(back, text) << changed;
  return changed;
}

std::string Erased(const std::string& text, std::size_t index) {
  return EraseItem(text, ParseJson(text), index);
}

TEST(InsertItems, GoesOnALineOfItsOwnWhereTheOthersAre) {
  EXPECT_EQ(Inserted("{\n    \"a\": 1\n}\n", {{"b", 2}}), "{\n    \"a\": 1,\n    \"b\": 2\n}\n");
  EXPECT_EQ(Inserted("{\n\t\"a\": 1\n}", {{"b", {{"c", 2}}}}),
            "{\n\t\"a\": 1,\n\t\"b\": {\n\t\t\"c\": 2\n\t}\n}");
  EXPECT_EQ(Inserted("[\n  1\n]", {{"", 2}, {"", 3}}), "[\n  1,\n  2,\n  3\n]");
}

TEST(InsertItems, StaysOnTheLineWhereTheOthersAre) {
  EXPECT_EQ(Inserted("{\"a\": 1}", {{"b", {{"c", Json::array({1, 2})}}}}),
            "{\"a\": 1, \"b\": {\"c\": [1, 2]}}");
  EXPECT_EQ(Inserted("[ 1 ]", {{"", 2}}), "[ 1, 2 ]");
}

TEST(InsertItems, KeepsACommaBehindTheLastItem) {
  EXPECT_EQ(Inserted("{\n  \"a\": 1,\n}", {{"b", 2}}), "{\n  \"a\": 1,\n  \"b\": 2,\n}");
  EXPECT_EQ(Inserted("[1,]", {{"", 2}}), "[1, 2,]");
}

TEST(InsertItems, LeavesCommentsWhereTheyAre) {
  EXPECT_EQ(Inserted("{\n  \"a\": 1 // one\n  // end\n}", {{"b", 2}}),
            "{\n  \"a\": 1, // one\n  \"b\": 2\n  // end\n}");
  EXPECT_EQ(Inserted("{\n  \"a\": 1, /* x */ // one\n}", {{"b", 2}}),
            "{\n  \"a\": 1, /* x */ // one\n  \"b\": 2,\n}");
  EXPECT_EQ(Inserted("{ /* nothing */ }\n", {{"b", 2}}), "{ /* nothing */ \"b\": 2 }\n");
  EXPECT_EQ(Inserted("{\n  // nothing\n}\n", {{"b", 2}}), "{\n  // nothing\n  \"b\": 2\n}\n");
}

TEST(InsertItems, FillsAnEmptyContainer) {
  EXPECT_EQ(Inserted("{}", {{"b", 2}}), "{ \"b\": 2 }");
  EXPECT_EQ(Inserted("{ }", {{"b", {{"c", 2}}}}), "{  \"b\": {\n  \"c\": 2\n} }");
  EXPECT_EQ(Inserted("{\n}\n", {{"b", 2}, {"c", 3}}), "{\n\n  \"b\": 2,\n  \"c\": 3\n}\n");
  EXPECT_EQ(Inserted("{\r\n\r\n}", {{"b", 2}}), "{\r\n\r\n\r\n  \"b\": 2\r\n}");
  EXPECT_EQ(Inserted("[]", {{"", 2}, {"", 3}}), "[ 2, 3 ]");
}

TEST(FormerBlanks, TellAContainerThatWasThereFromOneMadeForItsItems) {
  const auto blanks = [](const std::string& text) { return FormerBlanks(text, ParseJson(text)); };
  EXPECT_EQ(blanks("{ \"b\": 2 }"), "");
  EXPECT_EQ(blanks("{\n\n  \"b\": 2\n}"), "\n");
  EXPECT_EQ(blanks("{\"b\": 2}"), std::nullopt);
  EXPECT_EQ(blanks("{\n  \"b\": 2\n}"), std::nullopt);
  EXPECT_EQ(blanks("{\r\n\t\"b\": 2\r\n}"), std::nullopt);
}

TEST(InsertItems, KeepsLineEndsAndAByteOrderMark) {
  EXPECT_EQ(Inserted("\xEF\xBB\xBF{\r\n  \"a\": 1\r\n}\r\n", {{"b", {{"c", 2}}}}),
            "\xEF\xBB\xBF{\r\n  \"a\": 1,\r\n  \"b\": {\r\n    \"c\": 2\r\n  }\r\n}\r\n");
  EXPECT_EQ(Inserted("{\r\n  \"a\": 1 // x\r\n}", {{"b", 2}}),
            "{\r\n  \"a\": 1, // x\r\n  \"b\": 2\r\n}");
}

TEST(InsertItems, BreaksAListOfScalarsOnlyWhenItIsTooLong) {
  Json list = Json::array();
  const std::string element(17, 'x');
  for (int i = 0; i < 4; ++i) list.push_back(element);
  // `  "k": [` and `]` and 4 times 19 and 3 times `, `: 91 columns.
  EXPECT_EQ(Inserted("{\n  \"a\": 1\n}", {{"k", list}}).find("[\n"), std::string::npos);
  list.push_back("12345");
  EXPECT_EQ(Inserted("{\n  \"a\": 1\n}", {{"k", list}}).find("[\n"), std::string::npos)
      << "100 columns";
  list.back() = "123456";
  EXPECT_NE(Inserted("{\n  \"a\": 1\n}", {{"k", list}}).find("[\n"), std::string::npos)
      << "101 columns";
}

TEST(EraseItem, TakesTheLineAndItsComment) {
  EXPECT_EQ(Erased("{\n  \"a\": 1, // one\n  \"b\": 2\n}", 0), "{\n  \"b\": 2\n}");
  EXPECT_EQ(Erased("{\n  // before\n  \"a\": 1,\n  \"b\": 2\n}", 0),
            "{\n  // before\n  \"b\": 2\n}");
  EXPECT_EQ(Erased("{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}", 1), "{\r\n  \"a\": 1\r\n}");
}

TEST(EraseItem, LeavesWhatFollowsOnTheLineOutOfTheCommentBefore) {
  EXPECT_EQ(Erased("{\n  // one\n  \"a\": 1, \"b\": 2\n}", 0), "{\n  // one\n  \"b\": 2\n}");
  EXPECT_EQ(Erased("{\n  \"a\": 1, // one\n  \"b\": 2 }", 1), "{\n  \"a\": 1 // one\n  }");
  EXPECT_EQ(Erased("{ // one\r\n  \"a\": 1 }", 0), "{ // one\r\n  }");
  EXPECT_EQ(Erased("{\n  /* // */\n  \"a\": 1, \"b\": 2\n}", 0), "{\n  /* // */ \"b\": 2\n}");
  EXPECT_EQ(Erased("{\n  // one\n\n  \"a\": 1, \"b\": 2\n}", 0), "{\n  // one\n \"b\": 2\n}");
}

TEST(EraseItem, TakesOneOfALine) {
  EXPECT_EQ(Erased("[1, 2, 3]", 0), "[2, 3]");
  EXPECT_EQ(Erased("[1, 2, 3]", 1), "[1, 3]");
  EXPECT_EQ(Erased("[1, 2, 3]", 2), "[1, 2]");
  EXPECT_EQ(Erased("[1]", 0), "[]");
}

TEST(ReplaceValue, LeavesWhatIsAround) {
  const std::string text = "{\n  \"a\": 1, // one\n  \"b\": 2\n}";
  const JsonNode root = ParseJson(text);
  EXPECT_EQ(ReplaceValue(text, LayoutOf(text, root), root.items[0].value, Json::array({"x"})),
            "{\n  \"a\": [\"x\"], // one\n  \"b\": 2\n}");
}

}  // namespace
}  // namespace configure
