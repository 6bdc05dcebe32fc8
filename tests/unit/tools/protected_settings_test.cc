// Files that programs on the host obey are not written by the file tools, in any spelling.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "agents/agent.h"
#include "paths/host_programs.h"
#include "unit/tools/tool_fixture.h"

namespace tools {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class ProtectedSettings : public ToolTest {
 protected:
  ProtectedSettings() {
    rules.host_programs = paths::HostPrograms(agents::ObeyedFiles());
    UseRules();
  }
  static json WriteArguments(const std::string& name) {
    return {{"path", "/work/" + name}, {"content", "x"}};
  }
  std::string ReplaceError(const std::string& name) {
    return Error("replace", {{"path", "/work/" + name}, {"old_string", "a"}, {"new_string", "b"}});
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
    const auto refused = AllOf(HasSubstr("/work/" + name + " is not written"),
                               HasSubstr(" on the host obeys it ("), HasSubstr("--allow-settings"));
    EXPECT_THAT(Error("write_file", WriteArguments(name)), refused);
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
        ".g\u00efit/x", ".\xC5git/x",
        // of a bare repository, whose HEAD cannot follow
        "x/config", "x/objects/y", "x/refs/y", "x/commondir"}) {
    // clang-format on
    EXPECT_EQ(ReplaceError(name), "file does not exist") << name;
    EXPECT_NO_THROW(Call("write_file", WriteArguments(name))) << name;
  }
}

}  // namespace
}  // namespace tools
