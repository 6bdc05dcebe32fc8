// Files that programs on the host obey are not written by the file tools, in any spelling.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "agents/agent.h"
#include "paths/host_programs.h"
#include "unit/tools/mount_check_fixture.h"

namespace tools {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class ProtectedSettings : public MountCheckTest {
 protected:
  ProtectedSettings() {
    options_.host_programs = paths::HostPrograms(agents::ObeyedFiles());
    UseRules(options_);
  }
  std::string WriteError(const std::string& name) {
    return Error("write_file", {{"path", "/host/work/" + name}, {"content", "x"}});
  }
  std::string ReplaceError(const std::string& name) {
    return Error("replace",
                 {{"path", "/host/work/" + name}, {"old_string", "a"}, {"new_string", "b"}});
  }
};

TEST_F(ProtectedSettings, AreThoseOfAgentsEditorsAndGitInAnySpelling) {
  for (const std::string name :
       {// agents and editors
        ".claude", ".claude/settings.json", "sub/.claude/agents/x.md", ".CLAUDE/Settings.json",
        ".mcp.json", ".gemini/settings.json", ".codex/config.toml", ".cursor/mcp.json",
        ".vscode/tasks.json", ".zed/settings.json", "opencode.json", "opencode.jsonc",
        ".opencode/plugin/x.js", ".idea/workspace.xml", ".helix/languages.toml", ".nvim.lua",
        ".exrc", ".devcontainer/devcontainer.json", ".devcontainer.json", ".envrc", "a/.envrc",
        ".mise.toml", ".mise/tasks/x", "mise.toml", ".github/agents/x.md", ".github/mcp.json",
        ".github/hooks/x.json", ".github/copilot/settings.json",
        ".github/extensions/x/extension.mjs", ".github/skills/x/SKILL.md", ".github/lsp.json",
        ".agents/skills/x/SKILL.md", ".windsurf/x", "crush.json",
        // git
        ".git", ".git/config", ".git/HEAD", ".git/commondir", ".git/info/attributes",
        ".git/rebase-merge/git-rebase-todo", ".git/worktrees/x/HEAD", ".git/refs/heads/main",
        ".git/modules/lib/config", "vendor/lib/.git/config", "HEAD", "a/b/HEAD", ".hg/hgrc",
        // spellings
        ".Git/Hooks/pre-commit", "head", ".g\u200cit/config", ".git\ufeff/config", "\u202e.git/x",
        "GIT~1/config", "git~1", ".git. ./config", ".git /x", ".git::$INDEX_ALLOCATION/config",
        ".git ::$DATA", ".v\u017fcode/tasks.json", "croo\u212a/.\u212airo/x", "H\u200dEAD.",
        ".e\u00adnvrc", ".mcp.json:stream"}) {
    const auto refused = AllOf(HasSubstr("/host/work/" + name + " is not written"),
                               HasSubstr(" on the host obeys it ("), HasSubstr("--allow-settings"));
    EXPECT_THAT(WriteError(name), refused);
    EXPECT_THAT(ReplaceError(name), refused);
  }
}

TEST_F(ProtectedSettings, AreNoOtherFiles) {
  // clang-format off
  for (const std::string name :
       {"claude/settings.json", ".claude.md", "CLAUDE.md", "src/config.h", "hooks.ts", "config",
        ".github/workflows/test.yml", ".gitignore", ".gitattributes", ".gitconfig", "git~2",
        "opencode.txt", "src/opencode/json", "mcp.json", ".vscodeignore", "layouts/head/meta.html",
        "HEAD.md", ".env", ".husky/pre-commit", ".npmrc", "package.json", "Makefile", "a:.git",
        ".g\u00efit/x", ".\xC5git/x"}) {
    // clang-format on
    EXPECT_EQ(ReplaceError(name), "file does not exist") << name;
    EXPECT_NO_THROW(Call("write_file", {{"path", "/host/work/" + name}, {"content", "x"}})) << name;
  }
}

TEST_F(ProtectedSettings, BareRepositoryIsNotMadeStepByStepNorChanged) {
  for (const char* name : {"x/config", "x/objects/y", "x/refs/y", "x/commondir"}) {
    Call("write_file", {{"path", "/host/work/" + std::string(name)}, {"content", "x"}});
  }
  EXPECT_THAT(WriteError("x/HEAD"), HasSubstr("git on the host obeys it"));
  Put("work/x/HEAD", "ref: refs/heads/main");
  for (const char* name : {"x/config", "x/hooks/pre-commit", "x/commondir"}) {
    EXPECT_THAT(WriteError(name), HasSubstr("git on the host obeys it"));
    EXPECT_THAT(ReplaceError(name), HasSubstr("git on the host obeys it"));
  }
}

}  // namespace
}  // namespace tools
