#include "configure/json_settings.h"

#include <gmock/gmock.h>

#include "configure/settings_error.h"

namespace configure {
namespace {

using Kind = Change::Kind;
using ::testing::HasSubstr;
using Changes = std::vector<Change>;

const Json kServer = {{"command", "limactl"}, {"env", {{"LIMA_HOME", "/l"}}}};

Change Entry(Json value = kServer) {
  return {.kind = Kind::kEntry, .path = {"servers", "lima"}, .value = std::move(value)};
}
Change List() {
  return {.kind = Kind::kList, .path = {"tools", "exclude"}, .value = {"A", "B", "C"}};
}
Change Setting() {
  return {.kind = Kind::kSetting, .path = {"permission", "bash"}, .value = "deny"};
}

/// Applies twice, the second time as on a second run, and takes away again.
std::string Applied(const std::string& text, const Changes& changes) {
  std::string changed = ApplyToJson(text, changes, JsonHasEntry(text, changes));
  EXPECT_EQ(ApplyToJson(changed, changes, JsonHasEntry(changed, changes)), changed)
      << "twice changes nothing";
  EXPECT_EQ(RemoveFromJson(changed, changes), text) << changed;
  return changed;
}

Json Read(const std::string& text) {
  return ValueOf(text, ParseJson(text));
}

TEST(JsonEntry, IsAddedWithTheObjectsAboveIt) {
  EXPECT_EQ(Applied("{\"servers\": {}}", {Entry()}),
            "{\"servers\": { \"lima\": {\n  \"command\": \"limactl\",\n  \"env\": {\n"
            "    \"LIMA_HOME\": \"/l\"\n  }\n} }}");
  EXPECT_EQ(
      NewJson({Entry()}),
      "{\n  \"servers\": {\n    \"lima\": {\n      \"command\": \"limactl\",\n      \"env\": {\n"
      "        \"LIMA_HOME\": \"/l\"\n      }\n    }\n  }\n}");
}

TEST(JsonEntry, LeavesHalvesOfSurrogatePairsElsewhereAsTheyAre) {
  EXPECT_THAT(Applied(R"({"history": ["cut \ud83d"], "servers": {"mine": {}}})", {Entry()}),
              HasSubstr(R"({"history": ["cut \ud83d"], "servers": {"mine": {}, "lima")"));
}

TEST(JsonEntry, IsBroughtUpToDateMemberByMember) {
  const std::string text =
      "{\"servers\": {\"lima\": {\"command\": \"old\", \"mine\": 1, \"env\": {\"X\": \"y\"}}}}";
  EXPECT_EQ(
      ApplyToJson(text, {Entry()}, true),
      "{\"servers\": {\"lima\": {\"command\": \"limactl\", \"mine\": 1, \"env\": {\"X\": \"y\", "
      "\"LIMA_HOME\": \"/l\"}}}}");
}

TEST(JsonEntry, NullTakesAMemberAway) {
  const Change change =
      Entry({{"command", "limactl"}, {"trust", Json()}, {"env", {{"LIMA_HOME", Json()}}}});
  EXPECT_EQ(Read(Applied("{}", {change})),
            Json::parse(R"({"servers": {"lima": {"command": "limactl"}}})"));
  EXPECT_EQ(ApplyToJson("{\"servers\": {\"lima\": {\"command\": \"limactl\", \"trust\": true}}}",
                        {change}, true),
            "{\"servers\": {\"lima\": {\"command\": \"limactl\"}}}");
}

TEST(JsonEntry, OthersStayWhenItIsTakenAway) {
  EXPECT_EQ(
      RemoveFromJson("{\"servers\": {\"x\": {}, \"lima\": {\"mine\": 1}}, \"y\": {}}", {Entry()}),
      "{\"servers\": {\"x\": {}}, \"y\": {}}");
}

TEST(JsonEntry, AnEmptyObjectWithACommentStays) {
  EXPECT_EQ(RemoveFromJson("{\"servers\": { /* mine */ \"lima\": {} }}", {Entry()}),
            "{\"servers\": { /* mine */ }}");
}

TEST(JsonList, IsAdded) {
  Applied("{\n  // a comment\n  \"x\": 1\n}\n", {List(), Entry()});
}

TEST(JsonList, UsersElementsStayOnRemovalAlsoThoseThatAreOurs) {
  const std::string text = "{\"tools\": {\"exclude\": [\"B\", \"mine\"]}}";
  EXPECT_EQ(Applied(text, {List(), Entry()}).substr(0, 56),
            "{\"tools\": {\"exclude\": [\"B\", \"mine\", \"A\", \"B\", \"C\"]}, \"se");
}

TEST(JsonList, OnlyWhatIsMissingIsAddedToAListThatWasConfiguredBefore) {
  EXPECT_EQ(ApplyToJson("{\"tools\": {\"exclude\": [\"C\", \"A\"]}}", {List()}, true),
            "{\"tools\": {\"exclude\": [\"C\", \"A\", \"B\"]}}");
}

TEST(JsonList, AWholeBlockIsOursEvenIfTheRunBeforeBrokeOff) {
  const std::string text = "{\"tools\": {\"exclude\": [\"x\", \"A\", \"B\", \"C\"]}}";
  EXPECT_EQ(ApplyToJson(text, {List()}, false), text);
}

TEST(JsonList, UnwantedOnesAreTakenAway) {
  Change change = List();
  change.wanted = false;
  EXPECT_EQ(ApplyToJson("{\"tools\": {\"exclude\": [\"A\", \"x\"]}}", {change}, true),
            "{\"tools\": {\"exclude\": [\"x\"]}}");
  EXPECT_EQ(ApplyToJson("{\"tools\": {\"exclude\": [\"A\"]}}", {change}, true), "{}");
}

TEST(JsonSetting, UsersValueIsKeptInACommentAndPutBack) {
  const std::string text = "{\n  \"permission\": {\n    \"bash\": \"ask\", // mine\n  },\n}\n";
  EXPECT_THAT(
      Applied(text, {Setting(), Entry()}),
      HasSubstr("\"bash\": \"deny\" /* limactl mcp configure --remove restores: \"ask\" */, "
                "// mine\n"));
}

TEST(JsonSetting, UsersValueOverSeveralLinesIsPutBackByteByByte) {
  Applied("{\"permission\": {\"bash\": {\n \"*\": \"ask\" // mine\n}}}", {Setting(), Entry()});
}

TEST(JsonSetting, UsersOwnSameValueStaysOnRemoval) {
  Applied("{\"permission\": {\"bash\": \"deny\"}}", {Setting(), Entry()});
}

TEST(JsonSetting, AValueWithACommentThatCannotBeKeptIsRefused) {
  try {
    (void)ApplyToJson("{\n\"permission\": {\"bash\": { /* x */ }}}", {Setting()}, false);
    FAIL();
  } catch (const SettingsError& error) {
    EXPECT_EQ(error.position().line, 2U);
    EXPECT_EQ(error.position().column, 24U);
    EXPECT_THAT(error.what(), HasSubstr("permission.bash"));
  }
}

TEST(JsonSetting, AValueThatTheUserChangedSinceStays) {
  const std::string text = "{\"permission\": {\"bash\": \"allow\"}}";
  EXPECT_EQ(RemoveFromJson(text, {Setting()}), text);
}

TEST(JsonDefault, IsTakenAwayOnlyWhereItIsAloneOrKnownAsOurs) {
  const Change change = {.kind = Kind::kDefault, .path = {"version"}, .value = 1};
  EXPECT_EQ(RemoveFromJson(ApplyToJson("{}", {change}, false), {change}), "{}");
  EXPECT_EQ(RemoveFromJson("{\"version\": 1, \"x\": 2}", {change}), "{\"version\": 1, \"x\": 2}");
  EXPECT_EQ(Applied("{\"x\": 2}", {change}), "{\"x\": 2, \"version\":  1}");
  EXPECT_EQ(Applied("{\n  \"x\": 2\n}", {change}), "{\n  \"x\": 2,\n  \"version\":  1\n}");
  EXPECT_EQ(ApplyToJson("{\"version\": 2}", {change}, false), "{\"version\": 2}");
  EXPECT_EQ(RemoveFromJson("{\"version\": 2}", {change}), "{\"version\": 2}");
}

TEST(JsonSettings, OtherKindsOfValuesInTheWayAreRefused) {
  EXPECT_THROW((void)ApplyToJson("[]", {Entry()}, false), SettingsError);
  EXPECT_THROW((void)ApplyToJson("{\"servers\": []}", {Entry()}, false), SettingsError);
  EXPECT_THROW((void)ApplyToJson("{\"servers\": {\"lima\": 1}}", {Entry()}, false), SettingsError);
  EXPECT_THROW((void)ApplyToJson("{\"tools\": {\"exclude\": \"A\"}}", {List()}, false),
               SettingsError);
  EXPECT_THROW((void)ApplyToJson("{\"permission\": \"allow\"}", {Setting()}, false), SettingsError);
}

TEST(JsonSettings, NamesThatAreThereTwiceAreRefused) {
  for (const char* text : {"{\"servers\": {}, \"servers\": {\"lima\": {}}}",
                           "{\"servers\": {\"lima\": {\"a\": 1}, \"lima\": {}}}"}) {
    EXPECT_THROW((void)ApplyToJson(text, {Entry()}, true), SettingsError) << text;
    EXPECT_THROW((void)RemoveFromJson(text, {Entry()}), SettingsError) << text;
    EXPECT_THROW((void)JsonHasEntry(text, {Entry()}), SettingsError) << text;
  }
  try {
    (void)ApplyToJson("{\"servers\": {\"lima\": {\n\"trust\": true, \"trust\": true}}}",
                      {Entry({{"command", "limactl"}, {"trust", Json()}})}, true);
    FAIL() << "the first one would count once the last one is gone";
  } catch (const SettingsError& error) {
    EXPECT_EQ(error.position().line, 2U);
    EXPECT_EQ(error.position().column, 16U);
    EXPECT_THAT(error.what(), HasSubstr("\"servers.lima.trust\" is there more than once"));
  }
}

TEST(IsEmptyJson, OnlyWithoutComments) {
  EXPECT_TRUE(IsEmptyJson("\xEF\xBB\xBF{ \r\n }\n"));
  EXPECT_FALSE(IsEmptyJson("{ } // x"));
  EXPECT_FALSE(IsEmptyJson("{ /* x */ }"));
  EXPECT_FALSE(IsEmptyJson("{\"a\": 1}"));
}

}  // namespace
}  // namespace configure
