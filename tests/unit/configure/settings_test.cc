#include "configure/settings.h"

#include <gmock/gmock.h>

namespace configure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::StartsWith;

const SettingsFile kEntry = {.path = "x",
                             .wanted = {{"servers", {{"lima", {{"command", "limactl"}}}}}}};
const SettingsFile kList = {.path = "x", .wanted = {{"tools", {{"exclude", {"A", "B"}}}}}};
const SettingsFile kSetting = {.path = "x", .wanted = {{"chat", {{"mode", "lima"}}}}};
const SettingsFile kRules = {.path = "x",
                             .wanted = {{"permission", {{"**", "deny"}}}},
                             .untrusted = {{"permission", {{"lima", "ask"}}}},
                             .last = JsonPath("/permission")};
const SettingsFile kAllowed = {
    .path = "x", .wanted = {{"tools", {{"core", {"A", "B"}}}}}, .allowed = JsonPath("/tools/core")};

const SettingsFile kVersioned = {
    .path = "x",
    .initial = {{"version", 1}, {"lists", {{"allow", Json::array()}, {"deny", Json::array()}}}}};

Edited Added(const std::string& text, const SettingsFile& file) {
  return Add(file, text, false);
}

TEST(Settings, AreAddedAndRemoved) {
  const std::vector<std::tuple<std::string, SettingsFile, std::string>> cases = {
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
  for (const auto& [before, file, after] : cases) {
    EXPECT_EQ(Added(before, file).text, after);
    EXPECT_EQ(Added(after, file).text, after);
    EXPECT_EQ(Remove(file, after).text, before);
  }
}

TEST(Settings, OnlyWhatIsMissingIsAdded) {
  const std::vector<std::tuple<std::string, SettingsFile, std::string>> cases = {
      {"{\"servers\": {\"lima\": {\"mine\": 1, \"command\": \"x\"}}}", kEntry,
       "{\"servers\": {\"lima\": {\"mine\": 1, \"command\": \"x\"}}}"},
      {"{\"servers\": {\"lima\": {\"mine\": 1}}}", kEntry,
       "{\"servers\": {\"lima\": {\"mine\": 1, \"command\": \"limactl\"}}}"},
      {"{\"tools\": {\"exclude\": [\"B\", \"x\"]}}", kList,
       "{\"tools\": {\"exclude\": [\"B\", \"x\", \"A\"]}}"},
      {"{\"tools\": {\"core\": [\"mcp_x\", \"B\"]}}", kAllowed,
       "{\"tools\": {\"core\": [\"mcp_x\", \"B\", \"A\"]}}"},
      {"{\"permission\": {\"**\": \"deny\", \"x\": \"ask\"}}", kRules,
       "{\"permission\": {\"x\": \"ask\", \"**\": \"deny\", \"lima\": \"ask\"}}"},
      {"{\"permission\": {\"lima\": \"ask\", \"**\": \"deny\"}}", kRules,
       "{\"permission\": {\"**\": \"deny\", \"lima\": \"ask\"}}"},
      {"{\"version\": 2}", kVersioned, "{\"version\": 2, \"lists\": {\"allow\":[],\"deny\":[]}}"},
      {"{\"lists\": {\"deny\": [1]}}", kVersioned,
       "{\"lists\": {\"deny\": [1], \"allow\": []}, \"version\": 1}"},
  };
  for (const auto& [before, file, after] : cases) {
    const Edited edited = Added(before, file);
    EXPECT_EQ(edited.text, after);
    EXPECT_THAT(edited.lines, IsEmpty());
  }
}

TEST(Settings, OtherValuesOfTheUsersAreReportedAndKept) {
  const std::vector<std::tuple<std::string, SettingsFile, std::string>> cases = {
      {"{\"chat\": {\n\"mode\": \"mine\"}}", kSetting,
       ":2:9: \"chat.mode\" must be \"lima\": otherwise"},
      {"{\"chat\": \"mine\"}", kSetting, ":1:10: \"chat\" must be an object"},
      {"{\"permission\": {\"x\": 1, \"**\": \"allow\", \"lima\": \"ask\"}}", kRules,
       ":1:31: \"permission.**\" must be \"deny\": otherwise"},
      {"{\"permission\": {\"**\": \"deny\", \"lima\": \"deny\"}}", kRules,
       ":1:39: \"permission.lima\" must be \"ask\": otherwise"},
      {"{\"servers\": {\"lima\": 1}}", kEntry, ":1:22: \"servers.lima\" must be an object"},
      {"{\"servers\": []}", kEntry, ":1:13: \"servers\" must be an object"},
      {"{\"tools\": {\"exclude\": \"A\"}}", kList, ":1:23: \"tools.exclude\" must be a list"},
      {"{\"tools\": {\"core\": [\"A\", \"B\", \"mcp_x\", \"C\"]}}", kAllowed,
       ":1:40: \"tools.core\" must not have \"C\": otherwise"},
  };
  for (const auto& [text, file, line] : cases) {
    const Edited edited = Added(text, file);
    EXPECT_EQ(edited.text, text);
    EXPECT_THAT(edited.lines, ElementsAre(StartsWith(line)));
  }
  EXPECT_THROW((void)Added("{\"servers\": {}, \"servers\": {}}", kEntry), support::CallError);
  EXPECT_THROW((void)Added("[]", kEntry), support::CallError);
}

/// The entry of `words` after an entry of `before` was added to.
std::string CommandAfter(const std::string& before, const Json& words) {
  const SettingsFile file = {
      .path = "x", .wanted = {{"lima", {{"command", "limactl"}, {"args", words}, {"timeout", 6}}}}};
  const Edited edited = Added("{\"lima\": " + before + "}", file);
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

TEST(Settings, AnEntryGetsItsVariablesBesideTheUsers) {
  const SettingsFile file = {.path = "x", .wanted = {{"lima", {{"env", {{"LIMA_HOME", "/l"}}}}}}};
  EXPECT_EQ(Added("{\"lima\": {\"env\": {\"MINE\": \"1\"}}}", file).text,
            "{\"lima\": {\"env\": {\"MINE\": \"1\", \"LIMA_HOME\": \"/l\"}}}");
  for (const char* mine : {"{\"lima\": {\"env\": {\"LIMA_HOME\": \"/mine\"}}}",
                           "{\"lima\": {\"env\": {\"A\": null, /* x */ \"LIMA_HOME\": 1}}}"}) {
    EXPECT_EQ(Added(mine, file).text, mine);
  }
}

TEST(Settings, EveryConflictIsReportedAtItsPlaceInTheUsersText) {
  const SettingsFile file = {
      .path = "x", .wanted = {{"new", 1}, {"chat", 1}, {"servers", {{"x", 1}}}, {"tools", {1, 2}}}};
  const Edited edited = Added("{\n\"chat\": 2,\n\"servers\": 1,\n\"tools\": 1}", file);
  EXPECT_THAT(edited.lines,
              ElementsAre(StartsWith(":2:9: "), StartsWith(":3:12: "), StartsWith(":4:10: ")));
}

TEST(Settings, RemovalLeavesWhatDoesNotEqualOurs) {
  const SettingsFile versioned = {
      .path = "x", .wanted = kEntry.wanted, .initial = {{"version", 1}}};
  const SettingsFile lists = {.path = "x",
                              .wanted = {{"lists", {{"deny", Json::array({"A"})}}}},
                              .initial = kVersioned.initial};
  const std::vector<std::tuple<std::string, SettingsFile, std::string>> cases = {
      {"{\"chat\": {\"mode\": \"mine\"}}", kSetting, "{\"chat\": {\"mode\": \"mine\"}}"},
      {"{\"chat\": \"mine\"}", kSetting, "{\"chat\": \"mine\"}"},
      {"{\"chat\": [\"lima\"]}", kSetting, "{\"chat\": [\"lima\"]}"},
      {"{\"tools\": {\"exclude\": \"A\"}}", kList, "{\"tools\": {\"exclude\": \"A\"}}"},
      {"{\"tools\": {\"exclude\": [\"B\", \"x\", \"A\"]}}", kList,
       "{\"tools\": {\"exclude\": [\"x\"]}}"},
      {"{\"permission\": {\"**\": \"deny\", \"lima\": \"allow\"}}", kRules,
       "{\"permission\": {\"lima\": \"allow\"}}"},
      {"{\"servers\": { /* mine */ \"lima\": {} }}", kEntry, "{\"servers\": { /* mine */ }}"},
      {"{\"version\": 1, \"x\": 1, \"servers\": {\"lima\": {}}}", versioned,
       "{\"version\": 1, \"x\": 1}"},
      {"{\"version\": 1}", versioned, "{\"version\": 1}"},
      {"{\"mine\": 1, \"lists\": {\"allow\": [], \"deny\": [\"A\"]}}", lists,
       "{\"mine\": 1, \"lists\": {\"allow\": [], \"deny\": []}}"},
  };
  for (const auto& [text, file, after] : cases) EXPECT_EQ(Remove(file, text).text, after);
}

TEST(Settings, RemovalReportsEachValue) {
  const SettingsFile file = {.path = "x",
                             .wanted = {{"tools", {{"exclude", {"A", "B"}}}},
                                        {"servers", {{"lima", {{"command", "c"}}}}}}};
  const Edited edited = Remove(
      file, "{\"tools\": {\"exclude\": [\"A\", \"x\"]}, \"servers\": {\"lima\": {\"mine\": 1}}}");
  EXPECT_THAT(edited.lines, ElementsAre("tools.exclude: \"A\"", "servers.lima: {\"mine\":1}"));
  EXPECT_TRUE(edited.had_entry);
  EXPECT_FALSE(Remove(file, "{\"tools\": {\"exclude\": [\"A\"]}}").had_entry);
}

TEST(Settings, AFileWithoutOtherValuesIsRemovedUnlessItHasAComment) {
  const SettingsFile file = {.path = "x", .wanted = kEntry.wanted, .initial = {{"version", 1}}};
  const std::string added = Add(file, " \n", false).text.value();
  EXPECT_EQ(added,
            "{\n  \"version\": 1,\n  \"servers\": {\n    \"lima\": {\n"
            "      \"command\": \"limactl\"\n    }\n  }\n}\n");
  EXPECT_EQ(Remove(file, added).text, std::nullopt);
  EXPECT_THAT(Remove(file, "// mine\n" + added).text, Optional(StartsWith("// mine\n")));
  EXPECT_THAT(Remove(file, "{\"mine\": 1," + added.substr(1)).text,
              Optional(StartsWith("{\"mine\": 1,\n")));
}

TEST(Settings, SomeDependOnTrust) {
  const SettingsFile file = {.path = "x",
                             .wanted = {{"a", Json::array({"A"})}},
                             .trusted = {{"a", Json::array({"trust"})}},
                             .untrusted = {{"a", Json::array({"ask"})}}};
  const std::string plain = Add(file, std::nullopt, false).text.value();
  const std::string trusted = Add(file, plain, true).text.value();
  EXPECT_EQ(Json::parse(plain), Json::parse(R"({"a": ["A", "ask"]})"));
  EXPECT_EQ(Json::parse(trusted), Json::parse(R"({"a": ["A", "trust"]})"));
  EXPECT_EQ(Add(file, trusted, true).text, trusted);
  const std::string asks_again = R"({"a": ["A", "trust", "ask"]})";
  EXPECT_EQ(Add(file, asks_again, true).text, asks_again) << "the user has added it";
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
