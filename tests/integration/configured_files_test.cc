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
}

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
                       "{\"version\": 1, \"permissions\": {\"allow\": [\"Shell(ls)\"], \"deny\": "
                       "[\"Shell(rm)\"]}}\n",
                       "{\r\n\t\"version\": 1, // one\r\n\t\"permissions\": {\"allow\": [ 1,2 ], "
                       "\"deny\": [ 3 ]},\r\n}"};
  for (const auto& [agent, names] : files) {
    for (const std::string& text : texts) {
      std::map<std::string, std::string> before;
      for (const std::string& name : names) {
        MakeFile("project/" + name, text);
        fs::permissions(Path("project/" + name), fs::perms(0640));
        // A file without settings of the user's is removed.
        if (text.size() > 20) before[name] = text;
      }
      Succeeds({agent, "--project"});
      const auto once = Files("project");
      for (const std::string& name : names) EXPECT_NE(once.at(name), text) << name;
      for (const std::string& name : names) EXPECT_EQ(ModeOf(Path("project/" + name)), 0640U);
      Succeeds({agent, "--project"});
      EXPECT_EQ(Files("project"), once) << agent << ": " << text;
      Succeeds({agent, "--project", "--remove"});
      EXPECT_EQ(Files("project"), before) << agent;
      for (const auto& [name, unused] : before) {
        EXPECT_EQ(ModeOf(Path("project/" + name)), 0640U) << name;
        fs::remove(Path("project/" + name));
      }
    }
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
  MakeLink("project/.zed/settings.json", "nothing");
  EXPECT_THAT(FailsWithOneLine({"zed"}), HasSubstr("link to nothing"));
}

TEST_F(ConfiguredFiles, NewFilesFollowTheUmask) {
  const mode_t before = ::umask(027);
  Succeeds({"claude", "--project"});
  ::umask(before);
  EXPECT_EQ(ModeOf(Path("project/.mcp.json")), 0640U);
}

}  // namespace
}  // namespace integration
