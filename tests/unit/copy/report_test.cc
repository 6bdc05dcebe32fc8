#include "copy/report.h"

#include <string>
#include <vector>

#include "unit/copy/copy_fixture.h"

namespace copy {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::SizeIs;

class ReportTest : public CopyTest {
 protected:
  /// Runs a script in the project, and commits what it leaves.
  std::string Commit(const std::string& script) {
    const auto result = testing_support::RunProcess(
        {.arguments = {"sh", "-ec", script}, .working_directory = project.string()});
    EXPECT_EQ(result.exit_code, 0) << result.error;
    Run({"add", "-A"});
    Run({"commit", "-q", "--allow-empty", "-m", "work"});
    return Run({"rev-parse", "HEAD"});
  }

  Report Make(const std::string& script) {
    const std::string sent = Run({"rev-parse", "HEAD"});
    const std::string work = Commit(script);
    SideRepository side(Place());
    const Git users = Git::Users(project, side.lock());
    side.Prepare(ReadProject(project, users));
    side.Save({project.string(), "/copy", "main", sent, sent, work});
    return MakeReport(side, users, paths::HostPrograms(), sent, "agent/main");
  }
};

TEST_F(ReportTest, NamesWhatIsWorthALook) {
  struct Case {
    const char* before;
    const char* change;
    std::vector<std::string> lines;
  };
  const std::vector<Case> cases = {
      {"", "echo > a.c; mkdir src; echo > src/b.c; ln -s ../a.c src/link", {}},
      {"",
       "echo > .envrc; echo > .ENVRC",
       {"Programs of this host run or obey:", "  .ENVRC, .envrc: direnv: a shell script",
        "Names that a file system may take for another:", "  .ENVRC: .envrc"}},
      {"",
       "echo > package.json; echo > .envrc; echo > AGENTS.md; echo > .yarnrc",
       {"Programs of this host run or obey:", "  .envrc: direnv: a shell script",
        "  .yarnrc: yarn: names the program that runs as yarn",
        "  package.json: npm, pnpm, yarn, bun: scripts are commands",
        "  AGENTS.md: agents: instructions"}},
      {"",
       "mkdir -p node_modules; cd node_modules; touch a b c d e",
       {"Programs of this host run or obey:",
        "  node_modules/a, node_modules/b, node_modules/c and 2 more: node: modules are looked up "
        "there first"}},
      {"echo > .envrc; echo > Makefile",
       "rm .envrc Makefile",
       {"Programs of this host run or obey:", "  .envrc (deleted): direnv: a shell script"}},
      {"mkdir hooks; git config core.hooksPath hooks",
       "echo > hooks/post-checkout",
       {"Programs of this host run or obey:",
        "  hooks/post-checkout: git: your core.hookspath names it, git switch and merge may run "
        "it. To "
        "switch without: git -c core.hooksPath=/dev/null switch agent/main"}},
      {"git config core.hooksPath hooks/_",
       "mkdir -p hooks; echo > hooks/pre-commit; echo > x",
       {"Programs of this host run or obey:",
        "  hooks/pre-commit: git: your core.hookspath names it, git switch and merge may run it. "
        "To "
        "switch without: git -c core.hooksPath=/dev/null switch agent/main"}},
      {"mkdir 'my [hooks]'; git config core.hooksPath 'my [hooks]'",
       "echo > 'my [hooks]/a'; mkdir 'my h'; echo > 'my h/a'",
       {"Programs of this host run or obey:",
        "  my [hooks]/a: git: your core.hookspath names it, git switch and merge may run it. To "
        "switch without: git -c core.hooksPath=/dev/null switch agent/main"}},
      {"mkdir bin; git config core.hooksPath bin",
       "echo > bin/post-checkout",
       {"Programs of this host run or obey:",
        "  bin/post-checkout: git: your core.hookspath names it, git switch and merge may run it. "
        "To switch without: git -c core.hooksPath=/dev/null switch agent/main"}},
      {"git config core.hooksPath .",
       "mkdir d; echo > d/a",
       {"Programs of this host run or obey:",
        "  d/a: git: your core.hookspath names it, git switch and merge may run it. To switch "
        "without: git -c core.hooksPath=/dev/null switch agent/main"}},
      {"mkdir t; echo > t/settings; git config include.path ../t/settings",
       "echo '#' > t/settings",
       {"Programs of this host run or obey:", "  t/settings: git: your include.path names it"}},
      {"git config filter.x.clean '\"./t/clean\" %f'",
       "mkdir t; echo > t/clean; echo > clean",
       {"Programs of this host run or obey:", "  t/clean: git: your filter.x.clean names it"}},
      {"git config alias.x '!f() { : git log; git add -A :/; }; f'", "echo > a.c", {}},
      {"",
       "ln -s /etc/hosts a; ln -s ../x b; ln -s .Git/hooks c; ln -s d/../../x e; ln -s f g",
       {"Links that may lead out of the project:", "  a -> /etc/hosts", "  b -> ../x",
        "  c -> .Git/hooks", "  e -> d/../../x"}},
      {"mkdir lib; echo > lib/a",
       "mkdir LIB; echo > LIB/b",
       {"Names that a file system may take for another:", "  LIB: lib"}},
      {"mkdir lib LIB; echo > lib/a; echo > LIB/a", "echo '#' > lib/a", {}},
      {"",
       "echo > \"$(printf 'a\\033b')\"; echo > \"$(printf 'a\\342\\200\\256b')\";"
       "echo > \"$(printf 'c\\342\\200\\213b')\"",
       {"Names with characters that are not seen:", "  a\\x1bb", "  a\\xe2\\x80\\xaeb",
        "  c\\xe2\\x80\\x8bb"}},
      {"echo > was; chmod +x was",
       "echo > new; chmod +x new file.txt; echo '#' > was",
       {"New executables:", "  file.txt", "  new"}},
      {"git init -q sub; git -C sub -c user.name=a -c user.email=b commit -q --allow-empty -m s;"
       "echo sub > .git/info/exclude",
       "git update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub",
       {"Submodules:", "  sub"}},
  };
  const std::string start = Run({"rev-parse", "HEAD"});
  const std::string configuration = ReadFile(project / ".git/config");
  for (const Case& one : cases) {
    SCOPED_TRACE(one.change);
    Commit(one.before);
    EXPECT_EQ(Make(one.change).lines, one.lines);
    Run({"reset", "-q", "--hard", start});
    Run({"clean", "-qfdx"});
    WriteFile(project / ".git/config", configuration);
  }
}

TEST_F(ReportTest, IsBounded) {
  const Report report = Make(
      "for i in $(seq 30); do ln -s / l$i; done; ln -s $(printf %0300d 0) long;"
      "for i in $(seq 50); do mkdir -p $i; echo > $i/.envrc; done; echo > .nvimrc");
  EXPECT_THAT(report.lines,
              Contains("  1/.envrc, 10/.envrc, 11/.envrc and 47 more: direnv: a shell script"));
  EXPECT_THAT(report.lines, Contains("  .nvimrc: Vim, Neovim: a script"));
  EXPECT_THAT(report.lines, Contains("  and 10 more"));
  EXPECT_THAT(report.lines, SizeIs(3 + 22));
  EXPECT_EQ(report.protected_files, 51U);
}

TEST_F(ReportTest, DoesNotReadALinkThatIsTooLong) {
  WriteFile(project / "text", std::string(5000, 'a'));
  const Report report = Make(
      "git update-index --add --cacheinfo 120000,$(git hash-object -w text),a;"
      "git update-index --skip-worktree a; rm text; ln -s /b b");
  EXPECT_THAT(
      report.lines,
      ElementsAre("Links that may lead out of the project:", "  a -> (too long)", "  b -> /b"));
}

TEST(LeadsOut, IsStrict) {
  struct Case {
    const char* path;
    const char* target;
    bool leads_out;
  };
  for (const Case& one : std::vector<Case>{{"a", "b", false},
                                           {"a", "./b//c", false},
                                           {"d/a", "../b", false},
                                           {"d/e/a", "../.././b", false},
                                           {"a", ".", false},
                                           {"a", "..", true},
                                           {"d/a", "../..", true},
                                           {"d/a", "./.././../x", true},
                                           {"d/a", "b/../c", true},
                                           {"a", "/etc", true},
                                           {"a", ".git", true},
                                           {"d/a", "../.GIT/hooks", true},
                                           {"a", "x/git~1/hooks", true}}) {
    EXPECT_EQ(LeadsOut(one.path, one.target), one.leads_out) << one.path << " " << one.target;
  }
}

}  // namespace
}  // namespace copy
