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
  EXPECT_EQ(Files("project"), before) << ".claude/settings.local.json must not be written either";
}

TEST_F(ConfiguredFiles, RemoveRestoresEveryByteAndTheMode) {
  const Words names = {"hooks.json", "cli.json", "mcp.json"};
  for (const std::string& name : names) {
    MakeFile("project/.cursor/" + name,
             "{\r\n\t\"version\": 1, // one\r\n\t\"permissions\": {\"allow\": [ 1,2 ], \"deny\": "
             "[3]},\r\n}");
    fs::permissions(Path("project/.cursor/" + name), fs::perms(0640));
  }
  const auto before = Files("project");
  Succeeds({"cursor"});
  for (const auto& [name, text] : Files("project")) EXPECT_NE(before.at(name), text) << name;
  Succeeds({"cursor", "--remove"});
  EXPECT_EQ(Files("project"), before);
  for (const std::string& name : names) EXPECT_EQ(ModeOf(Path("project/.cursor/" + name)), 0640U);
}

TEST_F(ConfiguredFiles, RemoveDeletesFilesThatHeldNothing) {
  for (const std::string text : {"", "  \n\n", "{}", "{}\r\n"}) {
    MakeFile("project/.gemini/settings.json", text);
    Succeeds({"gemini"});
    Succeeds({"gemini", "--remove"});
    EXPECT_TRUE(fs::is_empty(Path("project"))) << text;
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
  MakeFile("home/\x1b[2J.json", "{}\n");
  MakeLink("home/.claude.json", "\x1b[2J.json");
  EXPECT_THAT(Succeeds({"claude"}),
              AllOf(HasSubstr(" -> " + Path("home").string() + "/\\x1b[2J.json\n"),
                    Not(HasSubstr("\x1b"))));
}

TEST_F(ConfiguredFiles, LinksInTheProjectAreRefused) {
  const fs::path outside = MakeFile("outside/settings.json", "{}\n");
  MakeLink("project/.gemini", Path("outside"));
  EXPECT_THAT(FailsWithOneLine({"gemini"}),
              AllOf(HasSubstr("project/.gemini: it is a link"), HasSubstr("replace it")));
  EXPECT_EQ(ReadFile(outside), "{}\n");
  MakeLink("project/.mcp.json", Path("nowhere"));
  EXPECT_THAT(FailsWithOneLine({"claude", "--project"}), HasSubstr("project/.mcp.json: it is a"));
  MakeLink("project/.zed/settings.json", "nothing");
  EXPECT_THAT(FailsWithOneLine({"zed"}), HasSubstr("it is a link in a project or to nothing"));
}

TEST_F(ConfiguredFiles, LinksToNothingAreRefused) {
  MakeLink("home/.claude.json", "nothing");
  EXPECT_THAT(FailsWithOneLine({"claude"}), HasSubstr("it is a link in a project or to nothing"));
}

TEST_F(ConfiguredFiles, NewFilesFollowTheUmask) {
  const mode_t before = ::umask(027);
  Succeeds({"claude", "--project"});
  ::umask(before);
  EXPECT_EQ(ModeOf(Path("project/.mcp.json")), 0640U);
}

}  // namespace
}  // namespace integration
