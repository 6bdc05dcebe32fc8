#include "configure/toml_settings.h"

#include <gmock/gmock.h>

namespace configure {
namespace {

using Kind = Change::Kind;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::vector<Change> kChanges = {
    {.kind = Kind::kSetting, .path = {"sandbox_mode"}, .value = "read-only"},
    {.kind = Kind::kSetting, .path = {"features", "shell_tool"}, .value = false},
    {.kind = Kind::kEntry,
     .path = {"mcp_servers", "lima"},
     .value = {{"args", {"mcp", "x\"y"}}, {"timeout", 600}, {"env", {{"LIMA_HOME", "/l"}}}}}};

const std::string kServer =
    "# >>> limactl-mcp\n[mcp_servers.lima]\nargs = [\"mcp\", \"x\\\"y\"]\ntimeout = 600\n"
    "env = {LIMA_HOME = \"/l\"}\n# <<< limactl-mcp\n";

/// Checks that the changes can be undone.
std::string Applied(const std::string& text) {
  std::string changed = ApplyToToml(text, kChanges);
  EXPECT_TRUE(TomlHasEntry(changed, kChanges));
  EXPECT_EQ(RemoveFromToml(changed, kChanges), text) << changed;
  return changed;
}

TEST(TomlSettings, AreAddedInBlocks) {
  EXPECT_EQ(Applied("# mine\nmodel = 'x' # y\n\n[features] # f\n  web = true\n"),
            "# >>> limactl-mcp\nsandbox_mode = \"read-only\"\n# <<< limactl-mcp\n"
            "# mine\nmodel = 'x' # y\n\n[features] # f\n"
            "# >>> limactl-mcp\nshell_tool = false\n# <<< limactl-mcp\n  web = true\n" +
                kServer);
}

TEST(TomlSettings, WithoutATableAreDottedKeys) {
  for (const std::string text : {"", "features.web = true\n", "[features.x]\na = 1\n"}) {
    EXPECT_THAT(Applied(text), StartsWith("# >>> limactl-mcp\nsandbox_mode = \"read-only\"\n"
                                          "features.shell_tool = false\n"));
  }
}

TEST(TomlSettings, UsersValueIsKeptInACommentAndPutBack) {
  EXPECT_EQ(Applied("sandbox_mode = 'workspace-write' # mine\n[features]\n\tshell_tool = true\n"),
            "# >>> limactl-mcp\nsandbox_mode = \"read-only\"\n# <<< limactl-mcp\n"
            "# >>> limactl-mcp\n# replaces: sandbox_mode = 'workspace-write' # mine\n"
            "# <<< limactl-mcp\n[features]\n"
            "# >>> limactl-mcp\nshell_tool = false\n# <<< limactl-mcp\n"
            "# >>> limactl-mcp\n# replaces: \tshell_tool = true\n# <<< limactl-mcp\n" +
                kServer);
  Applied("features.shell_tool = true\n");
}

TEST(TomlSettings, GiveBackLineEnds) {
  Applied("a = 1\r\nsandbox_mode = 'x'\r\n");
  Applied("a = 1\n\n\n");
  EXPECT_EQ(RemoveFromToml(ApplyToToml("a = 1", kChanges), kChanges), "a = 1\n");
}

TEST(TomlSettings, TablesThatOthersPutIntoABlockStay) {
  std::string text = Applied("a = 1\n");
  const std::string end = "# <<< limactl-mcp\n";
  text.insert(
      text.size() - end.size(),
      "[mcp_servers.lima.tools.glob]\nx = 1\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n");
  EXPECT_EQ(RemoveFromToml(text, kChanges),
            "a = 1\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n");
}

TEST(TomlSettings, FormsThatCannotBeEditedAreRefused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\xEF\xBB\xBFmodel = 'x'\n", "another form"},
      {"mcp_servers = {}\n", "another form"},
      {"features = {}\n", "another form"},
      {"[mcp_servers]\nlima.command = \"x\"\n", "another form"},
      {"[mcp_servers.lima]\n", "another form"},
      {"sandbox_mode = [\n1]\n", "another form"},
      {"features = {shell_tool = true}\n", "another form"},
      {"a = 1\na = 2\n", ""},
      {"a = \n", ""},
      {std::string(2000000, 'a') + ".a = 1\n" + std::string(2000, '.'), "dots"},
  };
  for (const auto& [text, reason] : cases) {
    try {
      (void)ApplyToToml(text, kChanges);
      ADD_FAILURE() << text;
    } catch (const SettingsError& error) {
      EXPECT_THAT(error.what(), HasSubstr(reason)) << text.substr(0, 100);
    }
  }
  EXPECT_THROW((void)RemoveFromToml("# >>> limactl-mcp\na = 1\n", kChanges), SettingsError);
}

TEST(TomlValue, IsOnOneLine) {
  EXPECT_EQ(TomlValue("/a\x7f\"\\\n\xC3\xA4"), "\"/a\\u007F\\\"\\\\\\n\xC3\xA4\"");
  EXPECT_EQ(TomlValue({{"a", {1, true}}, {"/b", Json::object()}}), "{a = [1, true], \"/b\" = {}}");
}

}  // namespace
}  // namespace configure
