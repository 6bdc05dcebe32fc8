// SPDX-License-Identifier: Apache-2.0
// What edits of settings leave of a text, and files that change meanwhile.
// tests/suites/configure.txt has the rest, with the agents' own settings.

#include <gmock/gmock.h>
#include <unistd.h>

#include <string>
#include <tuple>
#include <vector>

#include "configure/json_text.h"
#include "configure/settings.h"
#include "configure/stored_settings.h"
#include "support/errors.h"
#include "testing/error_of.h"
#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace configure {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using testing_support::ErrorOf;
using testing_support::ReadFile;
using testing_support::WriteFile;

TEST(ParseJson, ReadsWhatAgentsWrite) {
  const std::string plain = R"({"a": [1, -2.5e3, true, false, null, "x\"\u00e4"], "b": {}})";
  EXPECT_EQ(ParseJson(plain), Json::parse(plain));
  EXPECT_EQ(ParseJson("// one\r\n{ /* two */ \"a\": [1, 2,], // three\n}\n/* four */"),
            Json::parse(R"({"a": [1, 2]})"));
  EXPECT_EQ(ParseJson(R"({"url": "https://x/*y*/"})").at("url"), "https://x/*y*/");
  // JavaScript cuts a text between the halves of a surrogate pair.
  EXPECT_EQ(ParseJson(R"({"a": "cut \ud83d", "b": 1})").at("b"), 1);
}

TEST(ParseJson, ReportsPlaceAndReason) {
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {"{\n  \"a\": [1, 2\n}\n", ":3:1: ", "']'"},
      {R"({"a": 1 "b": 2})", ":1:9: ", "','"},
      {R"({"a" 1})", ":1:6: ", "':'"},
      {"{a: 1}", ":1:2: ", "double quotes"},
      {R"({"a": })", ":1:7: ", "expected a value"},
      {"{\"\xC3\xA4\": yes}", ":1:7: ", "not a JSON value"},
      {R"({"a": 01})", ":1:7: ", "not a JSON value"},
      {"{\"a\": \"b\n\"}", ":1:7: ", "never closed"},
      {R"({"a": "\)", ":1:7: ", "never closed"},
      {R"({"a": 1)", ":1:1: ", "never closed"},
      {"{} /* x", ":1:4: ", "never closed"},
      {"{} {}", ":1:4: ", "unexpected"},
      {"", ":1:1: ", "expected a value"},
      {"{\"a\": \"\xFF\"}", ":1:8: ", "not UTF-8"},
      {std::string(1000000, '['), ":1:102: ", "too deeply"}};
  for (const auto& [text, place, reason] : cases) {
    EXPECT_THAT(ErrorOf([&each = text] { (void)ParseJson(each); }),
                AllOf(StartsWith(place), HasSubstr(reason)));
  }
}

TEST(PlaceOf, CountsLinesAndCharacters) {
  EXPECT_EQ(PlaceOf("{\n \"\xC3\xA4\": [1, 2]}", JsonPath("/\xC3\xA4/1")), ":2:11");
  EXPECT_EQ(PlaceOf(R"({"a": 1})", JsonPath("/a/missing")), ":1:7");
}

using Texts = std::vector<std::pair<std::string, std::string>>;

TEST(Rewrite, AddsLikeTheRestAndIsUndone) {
  const Texts cases = {
      // On a line of its own, or on that of the others.
      {"{\n    \"a\": 1\n}\n", "{\n    \"a\": 1,\n    \"b\": 2\n}\n"},
      {"{\n\t\"a\": 1\n}", "{\n\t\"a\": 1,\n\t\"b\": {\n\t  \"c\": 2\n\t}\n}"},
      {R"({"a": 1})", R"({"a": 1, "b": {"c":[1,2]}})"},
      {"[\n  1\n]", "[\n  1,\n  2\n]"},
      {"[ 1 ]", "[ 1, 2 ]"},
      // With a trailing comma.
      {"{\n  \"a\": 1,\n}", "{\n  \"a\": 1,\n  \"b\": 2,\n}"},
      {"[1,]", "[1, 2,]"},
      // With comments.
      {"{\n  \"a\": 1 // one\n  // end\n}", "{\n  \"a\": 1, // one\n  \"b\": 2\n  // end\n}"},
      {"{\n  \"a\": 1, /* x */ // one\n}", "{\n  \"a\": 1, /* x */ // one\n  \"b\": 2,\n}"},
      {"{\n  // nothing\n}\n", "{\n  // nothing\n  \"b\": 2\n}\n"},
      // With other line ends.
      {"{\r\n  \"a\": 1 // x\r\n}\r\n",
       "{\r\n  \"a\": 1, // x\n  \"b\": {\n    \"c\": 2\n  }\r\n}\r\n"},
      // Into an empty container.
      {"{}", "{\n  \"b\": 2\n}"},
      {"[]", "[\n  2\n]"}};
  for (const auto& [before, after] : cases) {
    EXPECT_EQ(Rewrite(before, ParseJson(after)), after);
    EXPECT_EQ(Rewrite(after, ParseJson(before)), before);
  }
}

TEST(Rewrite, ReplacesAndRemovesInTheLayout) {
  const Texts cases = {
      {R"({"a": [1, 2], "b": {"c": 1}})", R"({"a": [1, 3, 4], "b": {"c": 1}})"},
      {R"({"b": {"c": 1}, "a": 2})", R"({"b": {"c": "d"}, "a": 2})"},
      {"{\n    \"a\": [\n      1 // one\n    ]\n}",
       "{\n    \"a\": [\n      1, // one\n      2\n    ]\n}"},
      {R"({"a": 1})", R"({"a": [1,2]})"},
      {"{\n  \"a\": 1, // one\n  \"b\": {\"c\": [1, 2, 3]},\n  \"d\": 4\n}\n",
       "{\n  // one\n  \"b\": {\"c\": [2, 4], \"e\": 5},\n  \"d\": \"x\",\n  \"a\": 2\n}\n"},
      {"{\"a\": {\"b\": 1,\n\"b\": 2}, \"c\": 1}", "{\"a\": {\"b\": 1,\n\"b\": 2}, \"c\": 2}"},
      {"{\n  \"a\": 1, // one\n  \"b\": 2\n}", "{\n  // one\n  \"b\": 2\n}"},
      {"{\n  // before\n  \"a\": 1,\n  \"b\": 2\n}", "{\n  // before\n  \"b\": 2\n}"},
      {"{\n  \"a\": 1, // one\n  \"b\": 2 }", "{\n  \"a\": 1 // one\n   }"},
      {"{ // one\r\n  \"a\": 1 }", "{ // one\r\n   }"},
      {"[1, 2, 3]", "[2, 3]"},
      {"[1, 2, 3]", "[1, 3]"},
      {"[1, 2, 3]", "[1, 2]"},
      {"[1, /* x */ 2, 3]", "[1, /* x */ 3]"},
      {"[1 /* one */, 2 /* two */]", "[2 /* two */]"},
      {"[1]", "[]"}};
  for (const auto& [before, after] : cases) {
    EXPECT_EQ(Rewrite(before, ParseJson(after)), after);
    EXPECT_EQ(Rewrite(after, ParseJson(after)), after);
  }
}

TEST(Rewrite, RefusesToChangeNamesThatAreThereTwice) {
  const std::string text = R"({"a": {"b": 1, "b": 2}})";
  for (const char* after : {R"({"a": {"b": 1}})", R"({"a": {}})"}) {
    EXPECT_THROW((void)Rewrite(text, ParseJson(after)), support::CommandError);
  }
}

const SettingsFile kEntry = {.path = {},
                             .wanted = {{"servers", {{"lima", {{"command", "limactl"}}}}}}};
const SettingsFile kList = {.path = {}, .wanted = {{"tools", {{"exclude", {"A", "B"}}}}}};
const SettingsFile kSetting = {.path = {}, .wanted = {{"chat", {{"mode", "lima"}}}}};
const SettingsFile kRules = {.path = {},
                             .wanted = {{"permission", {{"**", "deny"}}}},
                             .untrusted = {{"permission", {{"lima", "ask"}}}},
                             .last = JsonPath("/permission")};
const SettingsFile kAllowed = {
    .path = {}, .wanted = {{"tools", {{"core", {"A", "B"}}}}}, .allowed = JsonPath("/tools/core")};
const SettingsFile kVersioned = {
    .path = {},
    .wanted = {{"lists", {{"deny", Json::array({"A"})}}}},
    .initial = {{"version", 1}, {"lists", {{"allow", Json::array()}, {"deny", Json::array()}}}}};

using Edits = std::vector<std::tuple<SettingsFile, std::string, std::string>>;

TEST(Settings, AreAddedAndRemoved) {
  const Edits cases = {
      {kEntry, R"({"servers": {"x": {}}})",
       R"({"servers": {"x": {}, "lima": {"command":"limactl"}}})"},
      {kList, R"({"x": 1})", R"({"x": 1, "tools": {"exclude":["A","B"]}})"},
      {kList, R"({"tools": {"exclude": ["x"]}})", R"({"tools": {"exclude": ["x", "A", "B"]}})"},
      {kSetting, R"({"chat": {"x": 1 /* x */}})", R"({"chat": {"x": 1, /* x */ "mode": "lima"}})"},
      {kRules, R"({"permission": {"x": "ask"}})",
       R"({"permission": {"x": "ask", "**": "deny", "lima": "ask"}})"},
      {kSetting, R"({"history": ["cut \ud83d"]})",
       R"({"history": ["cut \ud83d"], "chat": {"mode":"lima"}})"}};
  for (const auto& [file, before, after] : cases) {
    EXPECT_EQ(Add(file, before, false).text, after);
    EXPECT_EQ(Add(file, after, false).text, after);
    EXPECT_EQ(Remove(file, after).text, before);
  }
}

TEST(Settings, OnlyWhatIsMissingIsAdded) {
  const Edits cases = {
      {kEntry, R"({"servers": {"lima": {"mine": 1, "command": "/x/limactl"}}})",
       R"({"servers": {"lima": {"mine": 1, "command": "/x/limactl"}}})"},
      {kEntry, R"({"servers": {"lima": {"mine": 1}}})",
       R"({"servers": {"lima": {"mine": 1, "command": "limactl"}}})"},
      {kList, R"({"tools": {"exclude": ["B", "x"]}})",
       R"({"tools": {"exclude": ["B", "x", "A"]}})"},
      {kAllowed, R"({"tools": {"core": ["mcp_x", "B"]}})",
       R"({"tools": {"core": ["mcp_x", "B", "A"]}})"},
      {kRules, R"({"permission": {"**": "deny", "x": "ask"}})",
       R"({"permission": {"x": "ask", "**": "deny", "lima": "ask"}})"},
      {kRules, R"({"permission": {"lima": "ask", "**": "deny"}})",
       R"({"permission": {"**": "deny", "lima": "ask"}})"},
      {kVersioned, R"({"version": 2})", R"({"version": 2, "lists": {"allow":[],"deny":["A"]}})"},
      {kVersioned, R"({"lists": {"deny": [1]}})",
       R"({"lists": {"deny": [1, "A"], "allow": []}, "version": 1})"}};
  for (const auto& [file, before, after] : cases) {
    const Edited edited = Add(file, before, false);
    EXPECT_EQ(edited.text, after);
    EXPECT_THAT(edited.lines, IsEmpty());
  }
}

TEST(Settings, OtherValuesOfTheUsersAreReportedAndKept) {
  const Edits cases = {
      {kSetting, "{\"chat\": {\n\"mode\": \"mine\"}}",
       R"(:2:9: "chat.mode" must be "lima": otherwise)"},
      {kSetting, R"({"chat": "mine"})", R"(:1:10: "chat" must be an object)"},
      {kRules, R"({"permission": {"x": 1, "**": "allow", "lima": "ask"}})",
       R"(:1:31: "permission.**" must be "deny": otherwise)"},
      {kRules, R"({"permission": {"**": "deny", "lima": "deny"}})",
       R"(:1:39: "permission.lima" must be "ask": otherwise)"},
      {kEntry, R"({"servers": {"lima": 1}})", R"(:1:22: "servers.lima" must be an object)"},
      {kEntry, R"({"servers": []})", R"(:1:13: "servers" must be an object)"},
      {kList, R"({"tools": {"exclude": "A"}})", R"(:1:23: "tools.exclude" must be a list)"},
      {kAllowed, R"({"tools": {"core": ["A", "B", "mcp_x", "C"]}})",
       R"(:1:40: "tools.core" must not have "C": otherwise)"}};
  for (const auto& [file, text, line] : cases) {
    const Edited edited = Add(file, text, false);
    EXPECT_EQ(edited.text, text);
    EXPECT_THAT(edited.lines, ElementsAre(StartsWith(line)));
  }
  for (const char* text : {R"({"servers": {}, "servers": {}})", "[]"}) {
    EXPECT_THROW((void)Add(kEntry, text, false), support::CommandError) << text;
  }
}

TEST(Settings, RemovalLeavesWhatDoesNotEqualOurs) {
  const SettingsFile versioned = {.path = {}, .wanted = kEntry.wanted, .initial = {{"version", 1}}};
  const Edits cases = {
      {kSetting, R"({"chat": {"mode": "mine"}})", R"({"chat": {"mode": "mine"}})"},
      {kSetting, R"({"chat": "mine"})", R"({"chat": "mine"})"},
      {kSetting, R"({"chat": ["lima"]})", R"({"chat": ["lima"]})"},
      {kList, R"({"tools": {"exclude": "A"}})", R"({"tools": {"exclude": "A"}})"},
      {kList, R"({"tools": {"exclude": ["B", "x", "A"]}})", R"({"tools": {"exclude": ["x"]}})"},
      {kRules, R"({"permission": {"**": "deny", "lima": "allow"}})",
       R"({"permission": {"lima": "allow"}})"},
      {kEntry, R"({"servers": { /* mine */ "lima": {} }})", R"({"servers": { /* mine */ }})"},
      {versioned, R"({"version": 1, "x": 1, "servers": {"lima": {}}})",
       R"({"version": 1, "x": 1})"},
      {versioned, R"({"version": 1})", R"({"version": 1})"},
      {kVersioned, R"({"mine": 1, "lists": {"allow": [], "deny": ["A"]}})",
       R"({"mine": 1, "lists": {"allow": [], "deny": []}})"}};
  for (const auto& [file, text, after] : cases) EXPECT_EQ(Remove(file, text).text, after);
}

class StoredSettingsTest : public ::testing::Test {
 protected:
  StoredSettingsTest() {
    for (const char* name : {"project/settings", "own"}) fs::create_directories(top_ / name);
    WriteFile(top_ / "own/config", "text");
  }
  [[nodiscard]] StoredSettings Stored() const { return {file_, project_}; }
  static void ExpectAlone(const fs::path& file, const std::string& text) {
    EXPECT_EQ(ReadFile(file), text);
    EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), {}), 1)
        << "something was left behind";
  }

  testing_support::TemporaryDirectory directory_;
  const fs::path top_ = directory_.path();
  const fs::path project_ = top_ / "project";
  const fs::path file_ = project_ / "settings/config";
};

TEST_F(StoredSettingsTest, DoNotReplaceAFileThatHasChanged) {
  for (const char* before : {"old", ""}) {
    if (*before != '\0') WriteFile(file_, before);
    const StoredSettings stored = Stored();
    WriteFile(file_, "theirs");
    EXPECT_THAT(ErrorOf([&] { stored.Write("ours"); }),
                AllOf(HasSubstr(file_.string()), HasSubstr("changed by another program")));
    ExpectAlone(file_, "theirs");
    fs::remove(file_);
  }
}

// The guest replaces a directory of the project after configure has read the file.
TEST_F(StoredSettingsTest, AreNotWrittenThroughALinkThatHasAppeared) {
  for (const bool exists : {true, false}) {
    if (exists) WriteFile(file_, "text");
    const StoredSettings stored = Stored();
    fs::remove_all(file_.parent_path());
    fs::create_directory_symlink(top_ / "own", file_.parent_path());
    for (const std::string& error :
         {ErrorOf([&] { stored.Write("ours"); }), ErrorOf([&] { stored.Remove(); })}) {
      EXPECT_THAT(error, HasSubstr(file_.parent_path().string()));
    }
    ExpectAlone(top_ / "own/config", "text");
    fs::remove(file_.parent_path());
  }
}

TEST_F(StoredSettingsTest, MakeAndRemoveDirectoriesOfAProjectBehindALink) {
  fs::create_directory_symlink("project", top_ / "link");
  const fs::path file = top_ / "link/a/b/config";
  StoredSettings(file, top_ / "link").Write("ours");
  EXPECT_EQ(ReadFile(project_ / "a/b/config"), "ours");
  StoredSettings(file, top_ / "link").Remove();
  EXPECT_FALSE(fs::exists(project_ / "a"));
  EXPECT_TRUE(fs::exists(project_));
}

TEST_F(StoredSettingsTest, LeaveAFileWhoseOwnerTheyCannotKeep) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can give files away";
  constexpr uid_t kNobody = 65534;
  WriteFile(file_, "old");
  fs::permissions(top_, fs::perms(0755));
  ASSERT_EQ(::chown(file_.parent_path().c_str(), kNobody, kNobody), 0);
  const StoredSettings stored = Stored();
  ASSERT_EQ(::seteuid(kNobody), 0);
  const std::string error = ErrorOf([&] { stored.Write("ours"); });
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_THAT(error, HasSubstr("cannot keep the owner of " + file_.string()));
  ExpectAlone(file_, "old");
}

}  // namespace
}  // namespace configure
