// Settings that programs on the host read, and the file tools do not write.

#include "paths/protected_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "unit/paths/path_rules_fixture.h"

namespace paths {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ProtectedSettings, AreThoseOfAgentsEditorsAndGit) {
  for (const char* path : {".claude",
                           ".claude/settings.json",
                           ".claude/agents/x.md",
                           ".mcp.json",
                           ".gemini/settings.json",
                           ".codex/config.toml",
                           ".cursor/mcp.json",
                           ".vscode/tasks.json",
                           ".zed/settings.json",
                           "opencode.json",
                           "opencode.jsonc",
                           ".opencode/plugin/x.js",
                           ".git/hooks/pre-commit",
                           ".git/config",
                           ".git/config.worktree",
                           ".git/modules/lib/config",
                           ".git/modules/lib/hooks/post-checkout",
                           ".git",
                           "sub/.claude/settings.local.json",
                           "vendor/lib/.git/config",
                           ".CLAUDE/Settings.json",
                           ".Git/Hooks/pre-commit"}) {
    EXPECT_TRUE(IsProtectedSetting(path)) << path;
  }
}

TEST(ProtectedSettings, AreNoOtherFiles) {
  for (const char* path :
       {"", "claude/settings.json", ".claude.md", "CLAUDE.md", "config", "hooks/pre-commit",
        ".git/HEAD", ".git/refs/heads/main", ".github/workflows/test.yml", ".gitignore",
        ".gitconfig", "opencode.txt", "src/opencode/json", "mcp.json", ".vscodeignore"}) {
    EXPECT_FALSE(IsProtectedSetting(path)) << path;
  }
}

TEST_F(PathRulesTest, ProtectedSettingIsReadButNotWritten) {
  fs::create_directory(top / "work/.claude");
  WriteFile(top / "work/.claude/settings.json", "{}");
  EXPECT_THAT(Refusal("/host/work/.claude/settings.json", Access::kWrite),
              AllOf(HasSubstr("/host/work/.claude/settings.json"), HasSubstr("--allow-settings")));
  EXPECT_THAT(Refusal("/host/work/missing/.vscode/tasks.json", Access::kWrite),
              HasSubstr("--allow-settings"));
  EXPECT_EQ(Resolve("/host/work/.claude/settings.json").guest, Guest("work/.claude/settings.json"));
}

TEST_F(PathRulesTest, LinkToAProtectedSettingIsNotWritten) {
  fs::create_directory(top / "work/.claude");
  fs::create_symlink(".claude", top / "work/innocent");
  EXPECT_THAT(Refusal("/host/work/innocent/settings.json", Access::kWrite),
              HasSubstr("--allow-settings"));
}

TEST_F(PathRulesTest, ProtectedSettingThatIsALinkIsNotWritten) {
  fs::create_directory(top / "work/shared");
  fs::create_symlink("shared", top / "work/.claude");
  EXPECT_THAT(Refusal("/host/work/.claude/settings.json", Access::kWrite),
              HasSubstr("--allow-settings"));
}

TEST_F(PathRulesTest, ProtectedSettingIsWrittenIfTheUserAllowsItOrTheDirectoryIsTheGuestsOwn) {
  options.allow_settings = true;
  EXPECT_EQ(Resolve("/host/work/.mcp.json", Access::kWrite).guest, Guest("work/.mcp.json"));
  options.allow_settings = false;
  options.roots[0].is_guests_own = true;
  const PathRules own(options);
  EXPECT_NO_THROW((void)own.Resolve("/host/work/.mcp.json", Access::kWrite, guest, {}));
}

}  // namespace
}  // namespace paths
