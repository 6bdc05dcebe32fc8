#include "configure/json_settings.h"

#include <gmock/gmock.h>

namespace configure {
namespace {

using Kind = Change::Kind;
using ::testing::HasSubstr;
using Changes = std::vector<Change>;

Change Entry() {
  return {.kind = Kind::kEntry, .path = {"servers", "lima"}, .value = {{"command", "limactl"}}};
}
Change List() {
  return {.kind = Kind::kList, .path = {"tools", "exclude"}, .value = {"A", "B"}};
}
Change Setting() {
  return {.kind = Kind::kSetting, .path = {"permission", "bash"}, .value = "deny"};
}
Change Default() {
  return {.kind = Kind::kDefault, .path = {"version"}, .value = 1};
}

Edited Apply(const std::string& text, const Changes& changes) {
  return Configure({.path = "x", .changes = changes}, text);
}

std::optional<std::string> Undone(const std::string& text, const Record& record) {
  // By way of the disk.
  return Restore({.path = "x"}, text, ToRecord(Json::parse(ToJson(record).dump())));
}

TEST(JsonSettings, AreAddedAndUndone) {
  const std::vector<std::tuple<std::string, Change, std::string>> cases = {
      {"{\"servers\": {\"x\": {}}}", Entry(),
       "{\"servers\": {\"x\": {}, \"lima\": {\"command\":\"limactl\"}}}"},
      {"{\"servers\": {\"lima\": 1}}", Entry(),
       "{\"servers\": {\"lima\": {\n  \"command\": \"limactl\"\n}}}"},
      {"{\"x\": 1}", List(), "{\"x\": 1, \"tools\": {\"exclude\":[\"A\",\"B\"]}}"},
      {"{\"tools\": {\"exclude\": [\"B\", \"x\"]}}", List(),
       "{\"tools\": {\"exclude\": [\"B\", \"x\", \"A\"]}}"},
      {"{\"permission\": {\"bash\": \"ask\" /* x */}}", Setting(),
       "{\"permission\": {\"bash\": \"deny\" /* x */}}"},
      {"{\"permission\": {\"bash\": \"deny\"}}", Setting(),
       "{\"permission\": {\"bash\": \"deny\"}}"},
      {"{\"permission\": {\"bash\": {}}}", Setting(), "{\"permission\": {\"bash\": \"deny\"}}"},
      {"{\"version\": 2}", Default(), "{\"version\": 2}"},
      {"{\"x\": 2}", Default(), "{\"x\": 2, \"version\": 1}"},
      {R"({"history": ["cut \ud83d"]})", Default(), R"({"history": ["cut \ud83d"], "version": 1})"},
  };
  for (const auto& [before, change, after] : cases) {
    const Edited edited = Apply(before, {change});
    EXPECT_EQ(edited.text, after);
    EXPECT_EQ(Undone(edited.text, edited.record), before);
  }
}

TEST(JsonSettings, WhatTheUserHasChangedSinceStays) {
  const std::vector<std::tuple<Change, std::string, std::string>> cases = {
      {Setting(), "{\"permission\": {\"bash\": \"allow\"}}",
       "{\"permission\": {\"bash\": \"allow\"}}"},
      {Setting(), "{\"permission\": \"allow\"}", "{\"permission\": \"allow\"}"},
      {Entry(), "{\"servers\": {\"x\": {}, \"lima\": {\"mine\": 1}}}",
       "{\"servers\": {\"x\": {}}}"},
      {Entry(), "{\"servers\": { /* mine */ \"lima\": {} }}", "{\"servers\": { /* mine */ }}"},
      {List(), "{\"tools\": {\"exclude\": [\"B\", \"x\"]}}", "{\"tools\": {\"exclude\": [\"x\"]}}"},
      {List(), "{\"tools\": {\"exclude\": \"x\"}}", "{\"tools\": {\"exclude\": \"x\"}}"},
      {Default(), "{\"version\": 1, \"hooks\": {}}", "{\"version\": 1, \"hooks\": {}}"},
      {Default(), "{}", "{}"},
  };
  for (const auto& [change, now, after] : cases) {
    EXPECT_EQ(Undone(now, Apply("", {change}).record), after) << now;
  }
}

TEST(JsonSettings, ReplacedValuesComeBackInAFileThatWasEdited) {
  const Edited edited =
      Apply("{\"permission\": {\"bash\": \"ask\"}, \"tools\": {\"exclude\": [\"x\"]}}",
            {Setting(), List(), Entry()});
  EXPECT_EQ(Undone("{\"tools\": {\"exclude\": [\"B\", \"y\"]}, \"permission\": {\"bash\": "
                   "\"deny\", \"edit\": \"deny\"}, \"servers\": {\"lima\": {}}}",
                   edited.record),
            "{\"tools\": {\"exclude\": [\"y\"]}, \"permission\": {\"bash\": \"ask\", "
            "\"edit\": \"deny\"}}");
}

TEST(JsonSettings, OnlyWhatDiffersIsRecorded) {
  const Edited edited =
      Apply("{\"token\": \"secret\", \"servers\": {\"x\": \"secret\"}}", {Entry()});
  EXPECT_THAT(ToJson(edited.record).dump(), ::testing::Not(HasSubstr("secret")));
}

TEST(JsonSettings, AFileThatHeldNothingIsAsBefore) {
  for (const std::optional<std::string>& before :
       {std::optional<std::string>(), std::make_optional<std::string>(" \n"),
        std::make_optional<std::string>("\xEF\xBB\xBF")}) {
    const Edited edited = Configure({.path = "x", .changes = {Entry()}}, before);
    EXPECT_EQ(edited.text,
              "{\n  \"servers\": {\n    \"lima\": {\n      \"command\": \"limactl\"\n    }\n"
              "  }\n}\n");
    EXPECT_EQ(Undone(edited.text, edited.record), before);
    EXPECT_EQ(Undone("{\"mine\":1," + edited.text.substr(1), edited.record), "{\"mine\":1\n}\n");
  }
}

TEST(JsonSettings, OtherKindsOfValuesOnThePathAreRefused) {
  const std::vector<std::pair<std::string, Change>> cases = {
      {"[]", Entry()},
      {"{\"servers\": []}", Entry()},
      {"{\"servers\": {}, \"servers\": {\"lima\": {}}}", Entry()},
      {"{\"tools\": {\"exclude\": \"A\"}}", List()},
      {"{\"permission\": {\"**\": \"deny\", \"bash\": \"allow\"}}",
       {.kind = Change::Kind::kLast, .path = {"permission", "**"}, .value = "deny"}},
      {"{\n\"permission\": \"allow\"}", Setting()},
  };
  for (const auto& [text, change] : cases) {
    EXPECT_THROW((void)Apply(text, {change}), SettingsError) << text;
  }
  try {
    (void)Apply(cases.back().first, {Setting()});
  } catch (const SettingsError& error) {
    EXPECT_THAT(error.what(), HasSubstr(":2:15: \"permission\" must be an object"));
  }
}

}  // namespace
}  // namespace configure
