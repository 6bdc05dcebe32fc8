#include "configure/settings.h"

#include <gmock/gmock.h>

namespace configure {
namespace {

using Kind = Change::Kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::StartsWith;

const Change kEntry = {Kind::kEntry, {"servers", "lima"}, {{"command", "limactl"}}};
const Change kList = {Kind::kList, {"tools", "exclude"}, {"A", "B"}};
const Change kSetting = {Kind::kSetting, {"chat", "mode"}, "lima", "why"};
const Change kDefault = {Kind::kDefault, {"version"}, 1};
const Change kRules = {Kind::kRules, {"permission"}, {{"**", "deny"}, {"lima", "ask"}}, "why"};

Edited Added(const std::string& text, const Change& change) {
  return Add({.path = "x", .changes = {change}}, text, false);
}

Edited Removed(const std::string& text, const std::vector<Change>& changes) {
  return Remove({.path = "x", .changes = changes}, text);
}

TEST(Settings, AreAddedAndRemoved) {
  const std::vector<std::tuple<std::string, Change, std::string>> cases = {
      {"{\"servers\": {\"x\": {}}}", kEntry,
       "{\"servers\": {\"x\": {}, \"lima\": {\"command\":\"limactl\"}}}"},
      {"{\"x\": 1}", kList, "{\"x\": 1, \"tools\": {\"exclude\":[\"A\",\"B\"]}}"},
      {"{\"tools\": {\"exclude\": [\"x\"]}}", kList,
       "{\"tools\": {\"exclude\": [\"x\", \"A\", \"B\"]}}"},
      {"{\"chat\": {\"x\": 1 /* x */}}", kSetting,
       "{\"chat\": {\"x\": 1, /* x */ \"mode\": \"lima\"}}"},
      {"{\"permission\": {\"x\": \"ask\"}}", kRules,
       "{\"permission\": {\"x\": \"ask\", \"**\": \"deny\", \"lima\": \"ask\"}}"},
      {R"({"history": ["cut \ud83d"]})", kSetting,
       R"({"history": ["cut \ud83d"], "chat": {"mode":"lima"}})"},
  };
  for (const auto& [before, change, after] : cases) {
    EXPECT_EQ(Added(before, change).text, after);
    EXPECT_EQ(Added(after, change).text, after);
    EXPECT_EQ(Removed(after, {change}).text, before);
  }
}

TEST(Settings, OnlyWhatIsMissingIsAdded) {
  const std::vector<std::tuple<std::string, Change, std::string>> cases = {
      {"{\"servers\": {\"lima\": {\"mine\": 1, \"command\": \"x\"}}}", kEntry,
       "{\"servers\": {\"lima\": {\"mine\": 1, \"command\": \"x\"}}}"},
      {"{\"servers\": {\"lima\": {\"mine\": 1}}}", kEntry,
       "{\"servers\": {\"lima\": {\"mine\": 1, \"command\": \"limactl\"}}}"},
      {"{\"tools\": {\"exclude\": [\"B\", \"x\"]}}", kList,
       "{\"tools\": {\"exclude\": [\"B\", \"x\", \"A\"]}}"},
      {"{\"version\": 2}", kDefault, "{\"version\": 2}"},
      {"{\"x\": 2}", kDefault, "{\"x\": 2, \"version\": 1}"},
      {"{\"permission\": {\"**\": \"deny\", \"x\": \"ask\"}}", kRules,
       "{\"permission\": {\"x\": \"ask\", \"**\": \"deny\", \"lima\": \"ask\"}}"},
      {"{\"permission\": {\"lima\": \"ask\", \"**\": \"deny\"}}", kRules,
       "{\"permission\": {\"**\": \"deny\", \"lima\": \"ask\"}}"},
  };
  for (const auto& [before, change, after] : cases) {
    const Edited edited = Added(before, change);
    EXPECT_EQ(edited.text, after);
    EXPECT_THAT(edited.lines, IsEmpty());
  }
}

TEST(Settings, OtherValuesOfTheUsersAreReportedAndKept) {
  const std::vector<std::tuple<std::string, Change, std::string>> cases = {
      {"{\"chat\": {\n\"mode\": \"mine\"}}", kSetting, ":2:9: \"chat.mode\" must be \"lima\": why"},
      {"{\"chat\": \"mine\"}", kSetting, ":1:10: \"chat\" must be an object"},
      {"{\"permission\": {\"x\": 1, \"**\": \"allow\"}}", kRules,
       ":1:31: \"permission.**\" must be \"deny\": why"},
      {"{\"permission\": \"allow\"}", kRules, ":1:16: \"permission\" must be an object"},
      {"{\"servers\": {\"lima\": 1}}", kEntry, ":1:22: \"servers.lima\" must be an object"},
      {"{\"servers\": []}", kEntry, ":1:13: \"servers\" must be an object"},
      {"{\"servers\": {}, \"servers\": {}}", kEntry, ":1:17: \"servers\" is there more than once"},
      {"{\"tools\": {\"exclude\": \"A\"}}", kList, ":1:23: \"tools.exclude\" must be a list"},
  };
  for (const auto& [text, change, line] : cases) {
    const Edited edited = Added(text, change);
    EXPECT_EQ(edited.text, text);
    EXPECT_THAT(edited.lines, ElementsAre(StartsWith(line)));
  }
  EXPECT_THROW((void)Added("[]", kEntry), SettingsError);
}

/// The entry of `words` after an entry of `before` was added to.
std::string CommandAfter(const std::string& before, const Json& words) {
  const Change change = {
      Kind::kEntry, {"lima"}, {{"command", "limactl"}, {"args", words}, {"timeout", 6}}};
  const Edited edited = Added("{\"lima\": " + before + "}", change);
  return edited.lines.empty() ? Json::parse(*edited.text)["lima"].dump() : edited.lines[0];
}

TEST(Settings, AnEntryKeepsTheUsersOptions) {
  const Json plain = {"serve", "a", "--root", "."};
  const Json options = {"serve", "a", "--start", "--root", "."};
  const auto entry = [](const Json& words, int timeout = 5) {
    return Json({{"command", "old"}, {"args", words}, {"timeout", timeout}}).dump();
  };
  const auto changed = [](const Json& words, int timeout) {
    return Json({{"command", "limactl"}, {"args", words}, {"timeout", timeout}}).dump();
  };
  EXPECT_EQ(CommandAfter(entry(plain), plain), changed(plain, 5));
  EXPECT_EQ(CommandAfter(entry({"serve", "b", "--root", "."}), plain), changed(plain, 5));
  EXPECT_EQ(CommandAfter(entry(plain), options), changed(options, 6));
  EXPECT_EQ(CommandAfter(entry(options), plain), entry(options));
  EXPECT_EQ(CommandAfter(entry(options), options), entry(options));
  for (const Json& other : {Json({"serve", "b", "--start", "--root", "."}), Json({"other"})}) {
    EXPECT_THAT(CommandAfter(entry(other), plain), StartsWith(":1:")) << other;
  }
}

TEST(Settings, EveryConflictIsReported) {
  const std::string text = "{\"chat\": 1, \"servers\": 1, \"tools\": 1}";
  const Edited edited = Add({.path = "x", .changes = {kSetting, kEntry, kList}}, text, false);
  EXPECT_THAT(edited.lines,
              ElementsAre(StartsWith(":1:10: "), StartsWith(":1:24: "), StartsWith(":1:36: ")));
}

TEST(Settings, RemovalLeavesWhatDoesNotEqualOurs) {
  const std::vector<std::tuple<std::string, std::vector<Change>, std::string>> cases = {
      {"{\"chat\": {\"mode\": \"mine\"}}", {kSetting}, "{\"chat\": {\"mode\": \"mine\"}}"},
      {"{\"chat\": \"mine\"}", {kSetting}, "{\"chat\": \"mine\"}"},
      {"{\"tools\": {\"exclude\": \"A\"}}", {kList}, "{\"tools\": {\"exclude\": \"A\"}}"},
      {"{\"tools\": {\"exclude\": [\"B\", \"x\"]}}",
       {kList},
       "{\"tools\": {\"exclude\": [\"x\"]}}"},
      {"{\"permission\": {\"**\": \"deny\", \"lima\": \"allow\"}}",
       {kRules},
       "{\"permission\": {\"lima\": \"allow\"}}"},
      {"{\"servers\": { /* mine */ \"lima\": {} }}", {kEntry}, "{\"servers\": { /* mine */ }}"},
      {"{\"version\": 1, \"x\": 1, \"servers\": {\"lima\": {}}}",
       {kEntry, kDefault},
       "{\"version\": 1, \"x\": 1}"},
      {"{\"version\": 1}", {kEntry, kDefault}, "{\"version\": 1}"},
  };
  for (const auto& [text, changes, after] : cases) EXPECT_EQ(Removed(text, changes).text, after);
}

TEST(Settings, RemovalReportsEachValue) {
  const Edited edited =
      Removed("{\"tools\": {\"exclude\": [\"A\", \"x\"]}, \"servers\": {\"lima\": {\"mine\": 1}}}",
              {kList, kEntry});
  EXPECT_THAT(edited.lines, ElementsAre("tools.exclude: \"A\"", "servers.lima: {\"mine\":1}"));
}

TEST(Settings, AFileWithoutOtherValuesIsRemovedUnlessItHasAComment) {
  const std::string added =
      Add({.path = "x", .changes = {kDefault, kEntry}}, " \n", false).text.value();
  EXPECT_EQ(added,
            "{\n  \"version\": 1,\n  \"servers\": {\n    \"lima\": {\n"
            "      \"command\": \"limactl\"\n    }\n  }\n}\n");
  EXPECT_EQ(Removed(added, {kDefault, kEntry}).text, std::nullopt);
  EXPECT_THAT(Removed("// mine\n" + added, {kDefault, kEntry}).text,
              Optional(StartsWith("// mine\n")));
  EXPECT_THAT(Removed("{\"mine\": 1," + added.substr(1), {kDefault, kEntry}).text,
              Optional(StartsWith("{\"mine\": 1,\n")));
}

TEST(Settings, SomeDependOnTrust) {
  const SettingsFile file = {.path = "x",
                             .changes = {{Kind::kList, {"a"}, {"A"}},
                                         {Kind::kList, {"a"}, {"ask"}, "", false},
                                         {Kind::kList, {"a"}, {"trust"}, "", true}}};
  const std::string plain = Add(file, std::nullopt, false).text.value();
  const std::string trusted = Add(file, std::nullopt, true).text.value();
  EXPECT_EQ(Json::parse(plain), Json::parse(R"({"a": ["A", "ask"]})"));
  EXPECT_EQ(Json::parse(trusted), Json::parse(R"({"a": ["A", "trust"]})"));
  EXPECT_FALSE(Remove(file, plain).was_trusted);
  EXPECT_TRUE(Remove(file, trusted).was_trusted);
  for (const std::string& text : {plain, trusted}) EXPECT_EQ(Remove(file, text).text, std::nullopt);
}

TEST(Settings, InTomlAreOursIfTheyHaveTheServer) {
  const auto has_ours = [](const std::string& text) {
    return HasOurs({.path = "x", .format = Format::kToml}, text);
  };
  EXPECT_TRUE(has_ours("a = 1\n[mcp_servers.lima] # x\n"));
  EXPECT_TRUE(has_ours("[mcp_servers.lima2]\n[mcp_servers.lima.env]\n"));
  EXPECT_FALSE(has_ours("[mcp_servers.lima2]\n# [mcp_servers.lima]\n"));
  EXPECT_FALSE(has_ours("[mcp_servers.lima"));
}

}  // namespace
}  // namespace configure
