// The files that configure edits: errors, links, modes, and what --remove restores.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "integration/configure_fixture.h"

namespace integration {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ConfiguredFiles : public Configure {};

TEST_F(ConfiguredFiles, AFileThatIsNotJsonLeavesAllFilesAlone) {
  MakeFile("project/.mcp.json", "{\n  \"mcpServers\": {]\n}\n");
  const auto before = Files("project");
  EXPECT_THAT(FailsWithOneLine({"claude", "--project"}), HasSubstr("/project/.mcp.json:2:18: "));
  EXPECT_THAT(FailsWithOneLine({"claude", "--project", "--remove"}),
              HasSubstr("/project/.mcp.json:2:18: "));
  EXPECT_EQ(Files("project"), before) << ".claude/settings.json must not be written either";
  EXPECT_FALSE(fs::exists(Path("state")));
}

TEST_F(ConfiguredFiles, AFileThatCannotBeEditedIsRefusedWithASnippet) {
  MakeFile("project/.codex/config.toml", "a = 1\nmcp_servers = {}\n");
  const ProcessResult result = Run({"codex"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.error, HasSubstr("/project/.codex/config.toml: cannot add the settings"));
  EXPECT_THAT(result.output, AllOf(HasSubstr("by hand"), HasSubstr("[mcp_servers.lima]")));
  EXPECT_EQ(ReadFile(Path("project/.codex/config.toml")), "a = 1\nmcp_servers = {}\n");
}

/// The containers of all agents' settings, empty.
const char* kAllEmpty =
    "{\n  \"mcpServers\": {},\n  \"servers\": {},\n  \"mcp\": {},\n  \"context_servers\": {},\n"
    "  \"tools\": {\"exclude\": []}, \"permission\": {},\n"
    "  \"permissions\": {\n    \"allow\": [],\n    \"deny\": []\n  },\n"
    "  \"hooks\": {\"preToolUse\": []}, \"version\": 1\n}";

// Space in empty brackets is not restored.
TEST_F(ConfiguredFiles, RemoveRestoresEveryByte) {
  const std::map<std::string, Words> files = {
      {"claude", {".claude/settings.json", ".mcp.json"}},
      {"cursor", {".cursor/hooks.json", ".cursor/cli.json", ".cursor/mcp.json"}},
      {"gemini", {".gemini/settings.json"}},
      {"opencode", {"opencode.json"}},
      {"vscode", {".vscode/settings.json", ".vscode/mcp.json"}},
      {"zed", {".zed/settings.json"}}};
  const Words texts = {"",
                       "  \n\n",
                       "\xEF\xBB\xBF",
                       "{}",
                       "\xEF\xBB\xBF{}\r\n",
                       "{\"permissions\": {\"deny\": [\"Shell(rm)\"]}}\n",
                       "{\n  // mine\n}\n",
                       "{\r\n\t\"version\": 1, // one\r\n\t\"a\": [ 1,2 ],\r\n}",
                       kAllEmpty};
  for (const auto& [agent, names] : files) {
    for (const std::string& text : texts) {
      std::map<std::string, std::string> before;
      for (const std::string& name : names) {
        MakeFile("project/" + name, text);
        fs::permissions(Path("project/" + name), fs::perms(0640));
        before[name] = text;
      }
      Succeeds({agent, "--project"});
      const auto once = Files("project");
      for (const std::string& name : names) EXPECT_NE(once.at(name), text) << name;
      Succeeds({agent, "--project"});
      EXPECT_EQ(Files("project"), once) << agent << ": " << text;
      Succeeds({agent, "--project", "--remove"});
      EXPECT_EQ(Files("project"), before) << agent;
      for (const std::string& name : names) {
        EXPECT_EQ(ModeOf(Path("project/" + name)), 0640U) << name;
        fs::remove(Path("project/" + name));
      }
    }
  }
}

TEST_F(ConfiguredFiles, RemoveRestoresEveryByteOfCodexsConfiguration) {
  for (const std::string text :
       {"", "\n", "\xEF\xBB\xBF", "# mine\n", "[tui]\n", "[features] # mine\n",
        "a = 1\r\n[b]\r\nc = 2\r\n", "[features]\n\n[mcp_servers.x]\ncommand = 'y'\n\n\n",
        "sandbox_mode = 'read-only'\n[features]\nshell_tool = true # mine\n"}) {
    MakeFile("project/.codex/config.toml", text);
    Succeeds({"codex"});
    const auto once = Files("project");
    Succeeds({"codex"});
    EXPECT_EQ(Files("project"), once) << text;
    Succeeds({"codex", "--remove"});
    EXPECT_THAT(Files("project"),
                ::testing::ElementsAre(::testing::Pair(".codex/config.toml", text)));
  }
}

TEST_F(ConfiguredFiles, LinksAreFollowedAndStay) {
  const fs::path dotfile = MakeFile("dotfiles/gemini.json", "{}\n");
  fs::create_directories(Path("home/.gemini"));
  const fs::path link = MakeLink("home/.gemini/settings.json", dotfile);
  EXPECT_THAT(Succeeds({"gemini", "--user"}), HasSubstr("-> " + dotfile.string()));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_THAT(ReadFile(dotfile), HasSubstr("mcpServers"));
  Succeeds({"gemini", "--user", "--remove"});
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(ReadFile(dotfile), "{}\n");
}

TEST_F(ConfiguredFiles, TheTargetOfALinkCannotDriveTheTerminal) {
  MakeFile("project/\x1b[2J.json", "{}\n");
  MakeLink("project/.mcp.json", "\x1b[2J.json");
  EXPECT_THAT(Succeeds({"claude", "--project"}),
              AllOf(HasSubstr(" -> " + Path("project").string() + "/\\x1b[2J.json\n"),
                    Not(HasSubstr("\x1b"))));
}

TEST_F(ConfiguredFiles, LinksOutOfTheProjectAreRefused) {
  const fs::path outside = MakeFile("outside/settings.json", "{}\n");
  MakeLink("project/.gemini", Path("outside"));
  EXPECT_THAT(FailsWithOneLine({"gemini"}), HasSubstr("out of the project"));
  EXPECT_EQ(ReadFile(outside), "{}\n");
  MakeLink("project/.mcp.json", Path("nowhere"));
  EXPECT_THAT(FailsWithOneLine({"claude", "--project"}), HasSubstr("link to nothing"));
  MakeLink("project/.codex/config.toml", "nothing");
  EXPECT_THAT(FailsWithOneLine({"codex"}), HasSubstr("link to nothing"));
}

TEST_F(ConfiguredFiles, NewFilesFollowTheUmask) {
  const mode_t before = ::umask(027);
  Succeeds({"claude", "--project"});
  ::umask(before);
  EXPECT_EQ(ModeOf(Path("project/.mcp.json")), 0640U);
}

}  // namespace
}  // namespace integration
