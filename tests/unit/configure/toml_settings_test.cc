#include "configure/toml_settings.h"

#include <gmock/gmock.h>

#include "configure/settings_error.h"

namespace configure {
namespace {

using Kind = Change::Kind;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const Json kServer = {{"command", "limactl"},
                      {"args", {"mcp", "x\"y"}},
                      {"timeout", 600},
                      {"mode", Json()},
                      {"env", {{"LIMA_HOME", "/l"}}}};

const std::vector<Change> kChanges = {
    {.kind = Kind::kSetting, .path = {"sandbox_mode"}, .value = "read-only"},
    {.kind = Kind::kSetting, .path = {"features", "shell_tool"}, .value = false},
    {.kind = Kind::kSetting, .path = {"features", "view_image"}, .value = false},
    {.kind = Kind::kEntry, .path = {"mcp_servers", "lima"}, .value = kServer}};

/// Applies twice, the second time as on a second run, and takes away again.
std::string Applied(const std::string& text) {
  std::string changed = ApplyToToml(text, kChanges, TomlHasEntry(text, kChanges));
  EXPECT_EQ(ApplyToToml(changed, kChanges, TomlHasEntry(changed, kChanges)), changed)
      << "twice changes nothing";
  EXPECT_EQ(RemoveFromToml(changed, kChanges), text) << changed;
  return changed;
}

TEST(TomlSettings, NewFile) {
  EXPECT_EQ(Applied(""),
            "sandbox_mode = \"read-only\"\n\n[features]\nshell_tool = false\nview_image = false\n\n"
            "[mcp_servers.lima]\ncommand = \"limactl\"\nargs = [\"mcp\", \"x\\\"y\"]\ntimeout = "
            "600\n\n[mcp_servers.lima.env]\nLIMA_HOME = \"/l\"\n");
}

TEST(TomlSettings, KeepsCommentsOrderAndLayout) {
  EXPECT_EQ(
      Applied("# mine\nmodel = 'x' # y\n\n[features] # f\n  web = true\n# end of features\n\n"
              "[mcp_servers.other]\ncommand = \"o\"\n"),
      "# mine\nmodel = 'x' # y\nsandbox_mode = \"read-only\"\n\n[features] # f\n  web = true\n"
      "  shell_tool = false\n  view_image = false\n# end of features\n\n"
      "[mcp_servers.other]\ncommand = \"o\"\n\n[mcp_servers.lima]\ncommand = \"limactl\"\n"
      "args = [\"mcp\", \"x\\\"y\"]\ntimeout = 600\n\n[mcp_servers.lima.env]\n"
      "LIMA_HOME = \"/l\"\n");
}

TEST(TomlSettings, SettingOfTheRootGoesBeforeTheFirstTable) {
  EXPECT_EQ(Applied("# about the table\n[a]\nb = 1\n").substr(0, 45),
            "sandbox_mode = \"read-only\"\n\n# about the table");
}

TEST(TomlSettings, KeepsLineEndsAndAByteOrderMark) {
  const std::string changed = Applied("\xEF\xBB\xBF[a]\r\nb = 1\r\n");
  EXPECT_THAT(changed,
              ::testing::StartsWith("\xEF\xBB\xBFsandbox_mode = \"read-only\"\r\n\r\n[a]"));
  EXPECT_THAT(changed, HasSubstr("\r\n\r\n[features]\r\nshell_tool = false\r\n"));
}

TEST(TomlSettings, JoinsDottedKeys) {
  EXPECT_THAT(Applied("features.web = true\nx = 1\n"),
              HasSubstr("features.web = true\nfeatures.shell_tool = false\n"));
}

TEST(TomlSettings, UsersValueIsKeptInACommentAndPutBack) {
  EXPECT_THAT(
      Applied("sandbox_mode = 'workspace-write' # mine\n[features]\nshell_tool = true\n"),
      ::testing::AllOf(
          HasSubstr("sandbox_mode = \"read-only\" # limactl mcp configure --remove restores: "
                    "'workspace-write' # mine\n"),
          HasSubstr("shell_tool = false # limactl mcp configure --remove restores: true\n")));
}

TEST(TomlSettings, UsersOwnSameValueStaysOnRemoval) {
  Applied("sandbox_mode = \"read-only\"\n\n[features]\nshell_tool = false\n");
}

TEST(TomlSettings, AFileWithoutALastLineEndGetsNone) {
  const std::string changed = ApplyToToml("a = 1", kChanges, false);
  EXPECT_EQ(ApplyToToml(changed, kChanges, true), changed);
  EXPECT_THAT(changed, Not(EndsWith("\n")));
  EXPECT_EQ(RemoveFromToml(changed, kChanges), "a = 1");
}

TEST(TomlSettings, BlankLinesAtTheEndStayThere) {
  EXPECT_THAT(Applied("a = 1\n\n\n"), EndsWith("LIMA_HOME = \"/l\"\n\n\n"));
  EXPECT_THAT(Applied("a = 1\r\n\r\n"), EndsWith("LIMA_HOME = \"/l\"\r\n\r\n"));
}

TEST(TomlSettings, AnEmptyTableOfTheUsersStays) {
  EXPECT_THAT(Applied("[features] # mine\n\n[z]\na = 1\n"),
              HasSubstr("[features] # mine\n\nshell_tool = false\nview_image = false\n\n[z]\n"));
}

TEST(TomlSettings, EntryIsBroughtUpToDateKeyByKey) {
  const std::string text =
      "[mcp_servers.lima]\ncommand = 'limactl' # same\nmode = \"approve\"\nmine = 1\n\n[z]\n";
  EXPECT_EQ(ApplyToToml(text, {kChanges.back()}, true),
            "[mcp_servers.lima]\ncommand = 'limactl' # same\nmine = 1\nargs = [\"mcp\", "
            "\"x\\\"y\"]\ntimeout = 600\n\n[z]\n\n[mcp_servers.lima.env]\nLIMA_HOME = \"/l\"\n");
}

TEST(TomlSettings, WhatIsNotWantedAnyMoreIsTakenAwayOnceConfigured) {
  const std::string text = "[a]\nb = 1\n\n[features]\nshell_tool = false\n\n[s.lima]\nx = 2\n";
  const std::vector<Change> changes = {
      {.kind = Kind::kSetting, .path = {"features", "shell_tool"}, .value = false, .wanted = false},
      {.kind = Kind::kEntry, .path = {"s", "lima"}, .value = Json::object(), .wanted = false}};
  EXPECT_EQ(ApplyToToml(text, changes, false), text) << "the user's own";
  EXPECT_EQ(ApplyToToml(text, changes, true), "[a]\nb = 1\n");
}

TEST(TomlSettings, EntryGoesWithAllItsTables) {
  EXPECT_EQ(
      RemoveFromToml("[mcp_servers.lima]\na = 1\n\n[mcp_servers.lima.env]\nX = \"y\"\n\n"
                     "# next\n[mcp_servers.lima2]\nb = 1\n\n[mcp_servers.lima.tools.x]\nc = 1\n",
                     kChanges),
      "\n# next\n[mcp_servers.lima2]\nb = 1\n");
}

TEST(TomlSettings, FormsThatAreNotChangedAreRefused) {
  for (const char* text :
       {"mcp_servers = {}\n", "mcp_servers.lima = {}\n", "[mcp_servers]\nlima.command = \"x\"\n",
        "[[mcp_servers]]\na = 1\n", "features = {}\n", "sandbox_mode = [\n1]\n"}) {
    EXPECT_THROW((void)ApplyToToml(text, kChanges, false), SettingsError) << text;
  }
}

TEST(TomlSettings, EscapesWhatTomlWantsEscaped) {
  const std::string path = "/a\x7f\"\\\n\xC3\xA4";
  const std::vector<Change> changes = {
      {.kind = Kind::kEntry, .path = {"s"}, .value = {{"command", path}}}};
  EXPECT_EQ(ApplyToToml("", changes, false), "[s]\ncommand = \"/a\\u007F\\\"\\\\\\n\xC3\xA4\"\n");
}

}  // namespace
}  // namespace configure
