// SPDX-License-Identifier: Apache-2.0
// One table of what a guest may plant in a project: is it refused by the file tools, reported in a
// branch, reported on a mount?

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "agents/agent.h"
#include "exposure/commits.h"
#include "exposure/git_settings.h"
#include "exposure/mounted.h"
#include "unit/server/tools/tool_fixture.h"

namespace tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing_support::WriteFile;

/// The file tools refuse it, and `changes` names it on a mount; a report on a branch names it.
enum class By { kOnlyTool, kTool, kToolAndReport, kReport, kNobody };

struct Planted {
  By named;
  /// Each is a path, "LINK -> TARGET", or a path, "=" and its content. "\n" adds to the file.
  std::vector<std::string> paths;
};

const std::vector<Planted>& Table() {
  // clang-format off
  static const std::vector<Planted> table = {
      // Agents and editors.
      {By::kToolAndReport,
       {".claude/settings.json", "sub/.claude/agents/x.md", ".CLAUDE/Settings2.json", ".mcp.json",
       ".gemini/settings.json", ".codex/config.toml", ".cursor/mcp.json", ".vscode/tasks.json", ".zed/settings.json",
       "opencode.json", "opencode.jsonc", ".opencode/plugin/x.js", ".idea/workspace.xml", ".helix/languages.toml",
       ".nvim.lua", ".exrc", ".devcontainer/devcontainer.json", ".devcontainer.json", ".envrc", "a/.envrc",
       ".mise.toml", ".mise/tasks/x", "mise.toml", ".github/agents/x.md", ".github/mcp.json", ".github/hooks/x.json",
       ".github/copilot/settings.json", ".github/extensions/x/extension.mjs", ".github/skills/x/SKILL.md",
       ".github/lsp.json", ".agents/skills/x/SKILL.md", ".agents/mcp_config.json", ".agents/hooks.json",
       ".antigravitycli/x", ".windsurf/x", "crush.json", ".openhands/setup.sh", ".grok/settings.json", ".hg/hgrc",
       ".hg/sharedpath", ".jj/workspace-config.toml", ".jj/repo/store/git_target", ".lfsconfig",
       "mise.local.toml", "mise/config.toml", ".clinerules/hooks/PreToolUse", ".direnv/flake-profile.rc",
       ".shadowenv.d/x.lisp", ".sl/config", ".pijul/config", ".repo/repo/main.py", "_darcs/prefs/defaults",
       ".pi/extensions/x.ts", ".agent/rules/x.md", ".augment/x", ".vibe/x", ".qoder/x", ".codebuddy/x", ".serena/x"}},
      // Their spellings.
      {By::kToolAndReport,
       {".v\u017fcode/tasks.json", "croo\u212a/.\u212airo/x", ".e\u00adnvrc", ".m\u034fcp.json"}},
      // Files of git, which no branch can have.
      {By::kTool,
       {".git/commondir", ".git/hooks/pre-commit", ".git/hooks/new-hook-of-a-new-git", ".git/rr-cache/x/postimage",
       ".git/config.worktree=[core]\nworktree=/", ".git/modules/lib/config=[core]\nworktree=/",
       ".git/modules/lib/hooks/post-checkout", ".git/modules/moved -> ../..", ".git/hooks/link -> ../../file.txt",
       ".git/index.old -> index", "deep/down/here/.git/config=[core]\nworktree=/"}},
      // Others are not written, and may run once a command goes on with what was begun.
      {By::kOnlyTool,
       {".git/HEAD=x", ".git/info/attributes", ".git/rebase-merge/git-rebase-todo", ".git/sequencer/todo",
       ".git/objects/info/alternates", ".git/refs/replace/x", ".hg/sub/x"}},
      {By::kToolAndReport,
       {"a/b/HEAD"}},
      // Settings of git. A tool cannot write the file.
      {By::kTool,
       {".git/config=\n[core]\nworktree=../..", ".git/config=\n[CORE] WORKTREE=/",
       ".git/config=\n[core]\nfsmonitor=x", ".git/config=\n[core]\nhooksPath=x",
       ".git/config=\n[gc]\nrecentObjectsHook=x", ".git/config=\n[guitool \"x\"]\ncmd=x",
       ".git/config=\n[imap]\ntunnel=x", ".git/config=\n[instaweb]\nhttpd=x",
       ".git/config=\n[browser \"x\"]\npath=x", ".git/config=\n[man \"x\"]\npath=x",
       ".git/config=\n[web]\nbrowser=x", ".git/config=\n[man]\nviewer=x", ".git/config=\n[http]\nproxy=x",
       ".git/config=\n[http]\nsslVerify=false", ".git/config=\n[http \"https://example.org\"]\ncookieFile=x",
       ".git/config=\n[http]\ncurloptResolve=x", ".git/config=\n[remote \"origin\"]\nurl=x",
       ".git/config=\n[REMOTE \"origin\"] URL=x", ".git/config=\n[remote.origin] url=x",
       ".git/config=\n[remote \"origin\"]\npushurl=x", ".git/config=\n[remote \"origin\"]\npush=x",
       ".git/config=\n[remote \"origin\"]\nmirror=true", ".git/config=\n[remote]\npushDefault=/x",
       ".git/config=\n[branch \"main\"]\nremote=/x", ".git/config=\n[branch \"main\"]\nremote=..",
       ".git/config=\n[branch \"main\"]\nmerge=x", ".git/config=\n[submodule \"x\"]\nurl=ext::x",
       ".git/config=\n[fetch]\nbundleURI=x", ".git/config=\n[remote \"origin\"]\nfetch=+refs/*:refs/*",
       ".git/config=\n[init]\ntemplateDir=x", ".git/config=\n[pull]\ntwohead=x", ".git/config=\n[pull]\noctopus=x",
       ".git/config=\n[commit]\ntemplate=x", ".git/config=\n[core]\nexcludesFile=x", ".git/config=\n[diff]\ntool=/x",
       ".git/config=\n[merge]\ntool=/x", ".git/config=\n[core]\nbare=true", ".git/config=\n[core]\nsshCommand=x",
       ".git/config=\n[user]\nsigningKey=x", ".git/config=\n[unknown \"x\"]\nkey=x",
       ".git/config=\n[include]\npath=x", ".git/config=\n[includeIf \"hasconfig:x\"]\npath=x", ".git/config=\n[core"}},
      // Honest work writes these, and the user is told of a branch.
      {By::kReport,
       {".pylintrc", "mypy.ini", ".flake8", "jsconfig.json", "buildServer.json", ".cursorrules",
       ".vim/coc-settings.json", ".bsp/x.json", ".fleet/run.json", ".nova/Tasks/x.json", "webpack.config.js",
       "jest.config.js", "vitest.config.ts", "next.config.js", "rollup.config.js", "gulpfile.js", "Gruntfile.js",
       "Podfile", "Fastfile", "Dangerfile", "Guardfile", "x.fsproj", "x.vbproj", "x.vcxproj", "deno.jsonc",
       ".pnp.cjs", ".formatter.exs", "project.clj", "config.nims", "analysis_options.yaml", "pkg/__init__.py",
       "renv/activate.R", "dub.json", "stack.yaml", "CMakeUserPresets.json", "x.tf.json", "bitbucket-pipelines.yml",
       ".buildkite/pipeline.yml", ".woodpecker.yml", ".gitignore", "deep/.gitignore", ".gitmodules", ".env", ".npmrc",
       "package.json", "Makefile", ".husky/pre-commit", ".github/workflows/test.yml", "AGENTS.md", ".gitattributes",
       "node_modules/.bin/x -> ../x", ".dir-locals-2.el", ".env.local", ".envrc.local", ".lazy.lua",
       ".ycm_extra_conf.py", "irb.rc", ".luacheckrc", ".lintr", ".proverc", ".erlang", ".merlin", "dune", ".pytest.ini",
       "pytest.toml", "cdk.json", ".storybook/main.js", ".clj-kondo/config.edn", ".neoconf.json",
       "x.xcodeproj/project.pbxproj", "Containerfile", "Rakefile.rb", "Taskfile.dist.yml", "Makefile.toml",
       "netlify.toml", "AGENT.md", "x/.clinerules", "rust-analyzer.toml", ".lsp/config.edn", ".luarc.jsonc",
       "lib/config/config.exs", ".credo.exs", "omnisharp.json", ".prototools", "lakefile.lean", "docs/conf.py",
       "lib/tasks/x.rake", "Steepfile", ".perldb", "QWEN.md", "CRUSH.md", "WARP.md", "action.yml", "CVS/Root",
       "_FOSSIL_", ".svn/wc.db", "lean-toolchain", "premake4.lua", "x.desktop", "x.gypi",
       "x\u00a0.txt", "x\u2800.txt", "\u1680.txt", "out -> /etc", "repository -> .git/hooks", "\u200e.txt"}},
      {By::kToolAndReport, {".cargo -> src", ".bundle -> src"}},
      {By::kNobody,
       {"claude/settings.md", "src/config.h", "hooks.ts", "config", "git~2",
       "opencode.txt", "src/opencode/json", "layouts/head/meta.html", "HEAD.md",
       "src/main.c", "docs/x.md", "package-lock.json", "Cargo.lock", "locales/de.json", "tests/fixtures/x.yml",
       "read_file.cc", "profile.ts", "src/profile.js", "crc.c", "bin/tool", "x/config", "x/objects/y", "x/refs/y", "x/commondir",
       "inside -> src"}},
  };
  // clang-format on
  return table;
}

/// The parts of a row's text.
struct Plant {
  explicit Plant(const std::string& text) : path(text), content("x\n") {
    const std::size_t arrow = text.find(" -> ");
    const std::size_t equals = text.find('=');
    if (arrow != std::string::npos) {
      path = text.substr(0, arrow);
      target = text.substr(arrow + 4);
    } else if (equals != std::string::npos) {
      path = text.substr(0, equals);
      content = text.substr(equals + 1) + "\n";
    }
  }

  void In(const fs::path& top) const {
    const fs::path file = top / path;
    fs::create_directories(file.parent_path());
    if (!target.empty()) {
      fs::create_symlink(target, file);
    } else if (content.starts_with('\n')) {
      WriteFile(file, testing_support::ReadFile(file) + content);
    } else {
      WriteFile(file, content);
    }
  }

  std::string path;
  std::string content;
  std::string target;
};

constexpr const char* kConfig = ".git/config";

class PlantedTest : public ToolTest {
 protected:
  PlantedTest() {
    rules.host_programs = programs;
    UseRules();
    Run("git init -q -b main && echo one > file.txt && git add . && git commit -qm one && "
        "mkdir -p .git/modules/lib && cp -r .git/HEAD .git/modules/lib");
  }

  void Run(const std::string& script) const {
    const std::string command = "cd " + work.string() +
                                " && GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a "
                                "GIT_COMMITTER_EMAIL=a GIT_CONFIG_GLOBAL=/dev/null sh -ec '" +
                                script + "'";
    ASSERT_EQ(std::system(command.c_str()), 0) << script;  // NOLINT(cert-env33-c)
  }

  [[nodiscard]] exposure::State Read() const { return exposure::ReadState(work, programs); }

  const paths::HostPrograms programs{agents::ObeyedFiles()};
};

TEST_F(PlantedTest, SettingsAreRefusedByTheFileTools) {
  for (const Planted& row : Table()) {
    for (const std::string& text : row.paths) {
      const Plant plant(text);
      if (!plant.target.empty()) continue;
      const std::string path = "/work/" + plant.path;
      const json arguments = {{"path", path}, {"content", "x"}};
      if (row.named == By::kReport || row.named == By::kNobody) {
        EXPECT_NO_THROW(Call("write_file", arguments)) << path;
        continue;
      }
      const auto refused =
          AllOf(HasSubstr(path + " is not written"), HasSubstr(" on the host obeys it ("),
                HasSubstr("--allow-settings"));
      EXPECT_THAT(Error("write_file", arguments), refused);
      EXPECT_THAT(Error("replace", {{"path", path}, {"old_string", "a"}, {"new_string", "b"}}),
                  refused);
    }
  }
}

TEST_F(PlantedTest, WhatProgramsObeyIsReportedInABranch) {
  const auto is_in_branch = [](const Planted& row, const std::string& path) {
    return row.named != By::kTool && row.named != By::kOnlyTool && !path.starts_with(".hg/");
  };
  for (const Planted& row : Table()) {
    for (const std::string& text : row.paths) {
      if (is_in_branch(row, text)) Plant(text).In(work);
    }
  }
  Run("git add -f . && git commit -qm two");
  const git::Git git = git::Git::Neutral(work / ".git", -1);
  const auto changes = exposure::ReadCommits(git, "HEAD~", "HEAD", false);
  for (const Planted& row : Table()) {
    for (const std::string& text : row.paths) {
      const std::string path = Plant(text).path;
      if (!is_in_branch(row, path)) continue;
      std::vector<exposure::Change> found;
      std::copy_if(changes.list.begin(), changes.list.end(), std::back_inserter(found),
                   [&](const exposure::Change& change) { return change.path == path; });
      EXPECT_FALSE(found.empty()) << path;
      EXPECT_EQ(exposure::ReportOn(found, programs, false).empty(), row.named == By::kNobody)
          << path;
    }
  }
}

TEST_F(PlantedTest, WhatProgramsObeyIsReportedOnAMount) {
  const exposure::State before = Read();
  const std::string config = testing_support::ReadFile(work / kConfig);
  for (const Planted& row : Table()) {
    for (const std::string& text : row.paths) {
      const Plant plant(text);
      plant.In(work);
      if (plant.path != kConfig) continue;  // the others can be there together
      const auto report = exposure::ReportOn(exposure::Compare(before, Read()), programs, false);
      EXPECT_GT(report.protected_files, 0U) << text;
      WriteFile(work / kConfig, config);
    }
  }
  const auto changes = exposure::Compare(before, Read());
  for (const Planted& row : Table()) {
    for (const std::string& text : row.paths) {
      const std::string path = Plant(text).path;
      if (path == kConfig) continue;
      std::vector<exposure::Change> found;
      std::copy_if(changes.begin(), changes.end(), std::back_inserter(found),
                   [&](const exposure::Change& change) { return change.path == path; });
      const bool is_named = row.named == By::kTool || row.named == By::kToolAndReport;
      EXPECT_EQ(!found.empty(), is_named) << text;
    }
  }
}

std::vector<std::string> NotHarmless(const std::vector<std::string>& settings) {
  std::vector<std::string> keys;
  for (const auto& [key, setting] : exposure::NotHarmless(settings)) keys.push_back(key);
  return keys;
}

// A key of a git that is newer than this program is an item by itself.
TEST(GitSettings, AreHarmlessOnlyIfTheyAreKnownToBe) {
  const testing_support::TemporaryDirectory directory;
  const std::string file = (directory.path() / "keys").string();
  ASSERT_EQ(std::system(("git help -c > " + file).c_str()), 0);  // NOLINT(cert-env33-c)
  std::istringstream lines(testing_support::ReadFile(file));
  std::vector<std::string> settings;
  for (std::string key; std::getline(lines, key);) {
    if (key.find('.') == std::string::npos || key.find(' ') != std::string::npos) continue;
    std::transform(key.begin(), key.end(), key.begin(), [](char c) { return std::tolower(c); });
    settings.push_back(key + "\n/tmp/x");
  }
  EXPECT_GT(settings.size(), 400U);
  const auto keys = NotHarmless(settings);
  std::erase_if(settings, [&](const std::string& setting) {
    const std::string key = setting.substr(0, setting.find('\n'));
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  });
  // git ignores the last one in a repository.
  EXPECT_THAT(settings, ::testing::UnorderedElementsAre("branch.<name>.description\n/tmp/x",
                                                        "user.email\n/tmp/x", "user.name\n/tmp/x",
                                                        "safe.directory\n/tmp/x"));
}

TEST(GitSettings, OfDailyWorkAreHarmless) {
  EXPECT_THAT(NotHarmless({"user.name\nA. U. Thor",
                           "remote.origin.url\nhttps://example.org",
                           "branch.x.rebase\ntrue",
                           "branch.x.gk-last-accessed\n2026-01-01T00:00:00Z",
                           "branch.x.github-pr-owner-number\na#b#1",
                           "pull.rebase\nfalse",
                           "pull.ff\nonly",
                           "core.bare\nfalse",
                           "gc.auto\n0",
                           "core.filemode\ntrue",
                           "core.repositoryformatversion\n0",
                           "remote.origin.fetch\n+refs/heads/*:refs/remotes/origin/*",
                           "remote.origin.gh-resolved\nbase",
                           "lfs.https://example.org.access\nbasic",
                           "advice.detachedhead\nfalse",
                           "push.default\nsimple",
                           "push.autosetupremote\ntrue",
                           "branch.sort\n-committerdate",
                           "branch.autosetuprebase\nalways",
                           "color.diff.meta\nbold #ff0000",
                           "column.ui\nauto,dense",
                           "commit.verbose\ntrue",
                           "core.autocrlf\ninput",
                           "core.eol\nlf",
                           "core.quotepath\noff",
                           "core.safecrlf\nwarn",
                           "core.untrackedcache\nkeep",
                           "diff.algorithm\nhistogram",
                           "diff.colormoved\ndimmed-zebra",
                           "diff.renames\ncopies",
                           "fetch.parallel\n4",
                           "fetch.writecommitgraph\ntrue",
                           "index.threads\n2",
                           "log.date\niso-strict-local",
                           "merge.renamelimit\n999",
                           "rebase.backend\nmerge",
                           "rebase.missingcommitscheck\nerror",
                           "rebase.updaterefs\ntrue",
                           "status.short\ntrue",
                           "status.showuntrackedfiles\nall",
                           "tag.sort\n-version:refname"}),
              ::testing::ElementsAre("remote.origin.url"));
}

TEST(GitSettings, OfUpstreamsCountByWhatWasKnown) {
  const auto is_upstream = [](const std::string& setting, const std::string& other = "x.y\nz") {
    const auto settings = exposure::NotHarmless({"remote.origin.url\nx", setting, other});
    const auto found = settings.find(setting.substr(0, setting.find('\n')));
    return found != settings.end() && found->second.is_upstream;
  };
  for (const char* setting :
       {"branch.a/b.remote\norigin", "branch.x.remote\n.", "branch.x.merge\nrefs/heads/x-1",
        "branch.y.merge\nrefs/pull/12/head", "branch.x.pushremote\norigin"}) {
    EXPECT_TRUE(is_upstream(setting)) << setting;
  }
  for (const char* setting : {"branch.x.remote\n/x", "branch.x.merge\nrefs/tags/x",
                              "branch.x.pushremote\nother", "remote.origin.push\nx"}) {
    EXPECT_FALSE(is_upstream(setting)) << setting;
  }
  EXPECT_FALSE(is_upstream("branch.x.pushremote\norigin", "branch.x.remote\norigin"))
      << "it pushes to where it pulls from";
  EXPECT_THAT(NotHarmless({"remote.a.fetch\n+refs/pull/*/head:refs/remotes/a/pr/*",
                           "remote.b.fetch\n+refs/heads/x:refs/remotes/b/y",
                           "remote.c.fetch\n+refs/heads/*:refs/remotes/a/*",
                           "remote.d.gh-resolved\nevil/repo", "rerere.enabled\ntrue",
                           "color.diff.new\nblack black"}),
              ::testing::SizeIs(6));
}

TEST(GitSettings, CountByTheOthers) {
  using ::testing::ElementsAre;
  EXPECT_THAT(NotHarmless({"branch.x.remote\ndata"}), ElementsAre("branch.x.remote"))
      << "git pulls from a file of that name";
  EXPECT_THAT(NotHarmless({"core.fsmonitor\nx", "core.fsmonitor\ntrue"}),
              ElementsAre("core.fsmonitor"));
  EXPECT_THAT(NotHarmless({"push.default\nupstream", "remote.x.fetch\n+refs/heads/*:refs/tags/*"}),
              ElementsAre("push.default", "remote.x.fetch"));
  // A line feed, %n, makes an "exec" of a rebase.
  const std::vector<std::string> settings = {"branch.x.merge\nrefs/tags/x",
                                             "branch.x.pushremote\n/x",
                                             "color.ui\n/x",
                                             "core.autocrlf\nx",
                                             "rebase.instructionformat\n%s%nexec x",
                                             "tag.sort\nsignature"};
  EXPECT_EQ(NotHarmless(settings).size(), settings.size());
}

}  // namespace
}  // namespace tools
