#include "configure/toml_statements.h"

#include <gmock/gmock.h>

#include "configure/settings_error.h"

namespace configure {
namespace {

using Kind = TomlStatement::Kind;

TEST(ParseToml, FindsTablesKeysAndValues) {
  const std::string text =
      "# comment\n\na = 1 # one\n[ b . \"c.d\" ]\n  'x y' = [ # list\n  \"]\",\n]\n[[e]]\nf.g = "
      "\"\"\"\nh = 1\"\"\"\n";
  const std::vector<TomlStatement> found = ParseToml(text);
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0].path, KeyPath{"a"});
  EXPECT_EQ(text.substr(found[0].value, found[0].value_end - found[0].value), "1");
  EXPECT_EQ(found[1].kind, Kind::kTable);
  EXPECT_EQ(found[1].path, (KeyPath{"b", "c.d"}));
  EXPECT_EQ(found[2].path, (KeyPath{"b", "c.d", "x y"}));
  EXPECT_EQ(found[2].table_depth, 2U);
  EXPECT_EQ(text.substr(found[2].begin, found[2].end - found[2].begin),
            "  'x y' = [ # list\n  \"]\",\n]\n");
  EXPECT_EQ(found[3].kind, Kind::kTableOfArray);
  EXPECT_EQ(found[4].path, (KeyPath{"e", "f", "g"}));
  EXPECT_EQ(found[4].end, text.size());
}

TEST(ParseToml, IsNotMisledByStrings) {
  const std::string text =
      "a = \"x # [y]\\\" z\"\nb = 'c:\\'\nc = '''\n[no]\n''''\nd = {e = \"}\"}\nf = 1";
  const std::vector<TomlStatement> found = ParseToml(text);
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(text.substr(found[1].value, found[1].value_end - found[1].value), "'c:\\'");
  EXPECT_EQ(text.substr(found[2].value, found[2].value_end - found[2].value), "'''\n[no]\n''''");
  EXPECT_EQ(text.substr(found[4].value, found[4].value_end - found[4].value), "1");
}

TEST(ParseToml, TellsWhereAndWhy) {
  try {
    (void)ParseToml("a = 1\nb = \n");
    FAIL();
  } catch (const SettingsError& error) {
    EXPECT_EQ(error.position().line, 2U);
    EXPECT_GT(std::string(error.what()).size(), 10U);
  }
  EXPECT_THROW((void)ParseToml("a = 1\na = 2\n"), SettingsError);
}

// toml++ overflows the stack with what is a million tables deep.
TEST(ParseToml, RefusesKeysOfTooManyNames) {
  const auto key = [](std::size_t names, const std::string& name) {
    std::string text = name;
    for (std::size_t i = 1; i < names; ++i) text += "." + name;
    return text;
  };
  for (const std::string name : {"a", "'='", "\"]\\\"\"", " a "}) {
    for (const std::string before : {"", "[", "[[", "x = {y = 1, ", "x = [1, {"}) {
      const std::string after = before.starts_with("[")     ? std::string(before.size(), ']') + "\n"
                                : before.ends_with("[1, {") ? " = 1}]\n"
                                : before.empty()            ? " = 1\n"
                                                            : " = 1}\n";
      EXPECT_NO_THROW((void)ParseToml(before + key(kMaximumTomlNames, name) + after))
          << before << name;
      EXPECT_THROW((void)ParseToml(before + key(kMaximumTomlNames + 1, name) + after),
                   SettingsError)
          << before << name;
    }
    EXPECT_THROW((void)ParseToml(key(1'000'000, name) + " = 1\n"), SettingsError);
  }
}

TEST(ParseToml, DotsOfOtherThingsAreNoNames) {
  const std::string dots(kMaximumTomlNames + 1, '.');
  EXPECT_EQ(ParseToml("a = \"" + dots + "\" # " + dots + "\n# " + dots + "\nb = '''\n" + dots +
                      "\n'''\nc = [1.5, 1.5]\n")
                .size(),
            3U);
}

TEST(SameTomlValue, ComparesMeaning) {
  EXPECT_TRUE(SameTomlValue("[\"a\", 'b']", "['a',\n\"b\"]"));
  EXPECT_FALSE(SameTomlValue("\"1\"", "1"));
}

}  // namespace
}  // namespace configure
