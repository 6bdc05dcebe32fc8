#include "find/content_search.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.h"
#include "testing/eventually.h"
#include "unit/find/grep_fixture.h"

namespace find {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(Grep, PrintsRelativeNamesLinesAndTextInOneRoundTrip) {
  Write("src/a.js", "one\nfunction  myFunction() {\n");
  Write("b.txt", "myFunction");
  EXPECT_EQ(Run(R"(function\s+myFunction)"), "src/a.js:2:function  myFunction() {\n");
  EXPECT_EQ(guest_.total(), 1);
  EXPECT_EQ(Run("myFunction"), "b.txt:1:myFunction\nsrc/a.js:2:function  myFunction() {\n");
  EXPECT_EQ(Run("no such text"), "");
  EXPECT_EQ(result_.warnings, "");
}

TEST_F(Grep, ABadPatternIsGitsError) {
  Write("a", "x");
  EXPECT_THAT(ErrorOf("(x"), AllOf(HasSubstr("git grep failed"), HasSubstr("missing")));
  EXPECT_THAT(ErrorOf("x{2,1}"), HasSubstr("numbers out of order"));
  EXPECT_THAT(ErrorOf("[z-a]"), HasSubstr("range out of order"));
}

// git's search of the whole file would miss these lines.
TEST_F(Grep, OtherLinesDoNotKeepALineFromMatching) {
  Write("a", "x else\n{\nelse y\nabc\n#c\nfoo  \n\nbar\n");
  EXPECT_EQ(Run(R"(else(?!\s*\{))"), "a:1:x else\na:3:else y\n");
  EXPECT_EQ(Run(R"(foo\s*\K)"), "a:6:foo  \n");
  EXPECT_EQ(Run(R"(^[^#]++c$)"), "");
  EXPECT_EQ(Run(R"(^(?>[^#]*)$)"),
            "a:1:x else\na:2:{\na:3:else y\na:4:abc\na:6:foo  \na:7:\na:8:bar\n");
  EXPECT_THAT(ErrorOf("(?!x"), HasSubstr("missing"));
  EXPECT_EQ(Run(R"(c\z)"), "a:4:abc\na:5:#c\n");
  EXPECT_EQ(Run(R"(\Ael)"), "a:3:else y\n");
}

TEST_F(Grep, WorksInARepositoryItsSubdirectoriesAndItsGitDirectory) {
  Git("", "init -q .");
  Write(".gitignore", "*.log\n/node_modules/\n");
  Write("a.c", "needle");
  Git("", "add a.c");
  Write("new.c", "needle");
  Write("b.log", "needle");
  Write("src/c.log", "needle");
  Write("src/d.c", "needle");
  Write("node_modules/p/e.js", "needle");
  Write(".git/hooks/f", "needle");
  EXPECT_EQ(Run("needle"), "a.c:1:needle\nnew.c:1:needle\nsrc/d.c:1:needle\n");
  EXPECT_EQ(RunIn("src", "needle"), "d.c:1:needle\n");
  EXPECT_EQ(RunIn(".git", "needle"), "hooks/f:1:needle\n");
  EXPECT_EQ(RunIn("node_modules", "needle"), "p/e.js:1:needle\n");
  EXPECT_EQ(RunIn("node_modules/p", "needle"), "e.js:1:needle\n");
  EXPECT_EQ(RunIn("node_modules/p", "no such text"), "");
}

TEST_F(Grep, IgnoreFilesCountOutsideOfRepositoriesTooAndMayExcludeAllButAFewNames) {
  Write(".gitignore", "*\n!*.c\n!*/\n");
  Write("a.c", "needle");
  Write("secret", "password needle");
  EXPECT_EQ(Run("needle"), "a.c:1:needle\n");
  Git("", "init -q .");
  EXPECT_EQ(Run("needle"), "a.c:1:needle\n");
  EXPECT_EQ(Run("password"), "");
}

TEST_F(Grep, EntersNestedRepositoriesButNotTheirGitDirectories) {
  Git("", "init -q .");
  std::filesystem::create_directories(Path("nested"));
  Git("nested", "init -q .");
  Write("nested/.git/x", "needle");
  Write("nested/a", "needle");
  EXPECT_EQ(Run("needle"), "nested/a:1:needle\n");
}

TEST_F(Grep, LeavesOutBinaryFilesAndLinks) {
  Write("binary", std::string("needle\0", 7));
  std::ofstream(Outside("secret")) << "needle";
  std::filesystem::create_symlink(Outside("secret"), Path("link"));
  std::filesystem::create_directory_symlink(Outside(""), Path("up"));
  Write("a", "needle");
  EXPECT_EQ(Run("needle"), "a:1:needle\n");
  EXPECT_EQ(Run("needle", "up/*"), "");
  EXPECT_EQ(Run("needle", "up/secret"), "");
}

TEST_F(Grep, ABrokenRepositoryIsSearchedLikeADirectory) {
  Git("", "init -q .");
  Write("a", "needle");
  std::ofstream(Path(".git/config"), std::ios::app) << "[broken\n";
  EXPECT_EQ(Run("needle"), "a:1:needle\n");
  EXPECT_EQ(Runs(), 2);
  EXPECT_THAT(ErrorOf("(needle"), HasSubstr("missing"));
}

TEST_F(Grep, NamesAreAsGitPrintsThem) {
  Write("ä.txt", "needle");
  Write("a\"b\n.txt", "needle");
  Write("a:1:b.txt", "needle");
  EXPECT_EQ(Run("needle"), "\"a\\\"b\\n.txt\":1:needle\na:1:b.txt:1:needle\nä.txt:1:needle\n");
}

TEST_F(Grep, LongLinesAreCutAndCounted) {
  Write("a", std::string(100'000, 'x') + "\nshort x\n");
  Write("b", std::string(9'000, 'x') + std::string(1, '\0') + "x\n");
  EXPECT_EQ(Run("x"), "a:1:" + std::string(kMaxGrepLine, 'x') + "… [" +
                          std::to_string(100'000 - kMaxGrepLine) +
                          " bytes left out]\na:2:short x\nb:1:" + std::string(9'000, 'x') +
                          std::string(1, '\0') + "x\n");
}

TEST_F(Grep, MatchesUtf8AndOtherBytes) {
  Write("utf8", "caf\xC3\xA9 au lait\n");
  Write("latin1", "caf\xE9 au lait\n");
  // git before 2.34 takes "." for one byte if the pattern is ASCII.
  EXPECT_THAT(Run("caf.{1,2} au"), HasSubstr("utf8:1:"));
  EXPECT_EQ(Run("café"), "utf8:1:café au lait\n");
  EXPECT_EQ(Run("caf[éè] au"), "utf8:1:café au lait\n");
  EXPECT_THAT(Run("au lait"), AllOf(HasSubstr("latin1:1:caf\xE9 au"), HasSubstr("utf8:1:")));
}

TEST_F(Grep, SearchesOneFileEvenIfIgnored) {
  Git("", "init -q .");
  Write(".gitignore", "*\n");
  Write("a*", "needle");
  Write("ab", "needle");
  EXPECT_EQ(RunIn("", "needle", nullptr, "a*"), "a*:1:needle\n");
}

TEST_F(Grep, UsesExtendedExpressionsIfGitHasNoPerlOnes) {
  PutFirst("git",
           "#!/bin/sh\nfor word; do test \"$word\" = --perl-regexp || continue\n"
           "echo 'fatal: cannot use Perl-compatible regexes when not compiled with USE_LIBPCRE'"
           " >&2\nexit 128\ndone\nexec " +
               FindProgram("git") + " \"$@\"\n");
  Write("a", "function  myFunction\n");
#ifdef __APPLE__  // extended expressions know no \s there
  const char* const pattern = "function[[:space:]]+my(Function|Other)";
#else
  const char* const pattern = R"(function\s+my(Function|Other))";
#endif
  EXPECT_EQ(Run(pattern), "a:1:function  myFunction\n");
  EXPECT_EQ(Runs(), 2);
}

TEST_F(Grep, GivesTheSameAnswersWithoutGit) {
  Write("a.txt", "one\nfunction  myFunction() {\n\nlast needle");
  Write("b.txt", "needle\r\nneedle:2:x");
  Write("d/ä.txt", "x needle y\nneedle\n");
  Write("d.txt", "needle\n");
  Write("latin1", "caf\xE9 needle\n");
  Write("binary", std::string("needle\n\0", 8));
  Write("empty");
  Write(".hidden", "needle\n");
  Write("sub/.git/config", "needle\n");
  std::filesystem::create_symlink(Path("a.txt"), Path("link"));
  std::filesystem::create_directory_symlink(Path("d"), Path("dirlink"));
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  struct Case {
    std::string pattern;
    const char* include = nullptr;
    std::string file = {};
  };
  const std::vector<Case> cases = {{"needle"},
                                   {"^needle$"},
                                   {R"(function +my(Function|Other))"},
                                   {"no such text"},
                                   {"."},
                                   {"--open-files-in-pager=sh -c id"},
                                   {"needle", "*.txt"},
                                   {"needle", "d/"},
                                   {"needle", "**"},
                                   {"needle", nullptr, "a.txt"}};
  std::vector<std::string> with_git;
  for (const Case& c : cases) with_git.push_back(RunIn("", c.pattern, c.include, c.file));
  EXPECT_THAT(with_git[0], HasSubstr("latin1:1:caf\xE9 needle\n"));
  EXPECT_TRUE(result_.has_git);
  WithoutGit();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(RunIn("", cases[i].pattern, cases[i].include, cases[i].file), with_git[i])
        << cases[i].pattern;
    EXPECT_FALSE(result_.has_git);
    EXPECT_EQ(result_.warnings, "");
  }
  EXPECT_THAT(ErrorOf("(x"), HasSubstr("grep failed in the guest (exit status 2): "));
}

TEST_F(Grep, ReportsUnreadableFilesWithoutGit) {
  if (!ActAsOrdinaryUser()) GTEST_SKIP() << "needs setpriv to run as an ordinary user";
  Write("open", "needle\n");
  Write("secret file", "needle\n");
  Write("secret directory/x", "needle\n");
  for (const char* name : {"secret file", "secret directory"}) {
    std::filesystem::permissions(Path(name), std::filesystem::perms::none);
  }
  WithoutGit();
  EXPECT_EQ(Run("needle"), "open:1:needle\n");
  EXPECT_THAT(result_.warnings, AllOf(HasSubstr("secret file"), HasSubstr("secret directory")));
  std::filesystem::permissions(Path("secret directory"), std::filesystem::perms::owner_all);
}

TEST_F(Grep, TheGitOfMacosWithoutDeveloperToolsCountsAsNone) {
  Write("a", "needle\n");
  PutFirst("git",
           "#!/bin/sh\necho 'xcode-select: note: no developer tools were found' >&2\nexit 1\n");
  EXPECT_EQ(Run("needle"), "a:1:needle\n");
  EXPECT_FALSE(result_.has_git);
}

TEST_F(Grep, FailsWithoutAnExitStatus) {
  Write("a", "needle\n");
  guest_.set_run([this](const shell::Script& script, shell::OutputSink& sink, const auto& context) {
    guest_.RunHere(script, sink, context);
    return shell::RunEnd();
  });
  EXPECT_THROW(Run("needle"), support::CallError);
}

TEST_F(Grep, TheDeadlineStopsACatastrophicPatternInTheGuest) {
  PutFirst("git", "#!/bin/sh\necho $$ >" + Outside("pid").string() + "\nwhile :; do :; done\n");
  Write("a", std::string(200, 'a'));
  context_ = support::Context().WithTimeout(std::chrono::milliseconds(300));
  EXPECT_THROW(Run("(a|a)*$"), support::Stopped);
  pid_t process = 0;
  std::ifstream(Outside("pid")) >> process;
  ASSERT_GT(process, 0);
  EXPECT_TRUE(testing_support::Eventually([&] { return kill(process, 0) != 0; }))
      << "it still runs";
}

TEST_F(Grep, AMissingDirectoryIsAnError) {
  EXPECT_THAT([&] { RunIn("missing", "x"); },
              testing::ThrowsMessage<support::CallError>(HasSubstr("cannot be entered")));
}

TEST_F(Grep, KeepsWholeLinesUpToTheLimitAndCountsAll) {
  Write("a", "x\n");
  Write("b", "x\nxx\nx\n");
  maximum_output_bytes_ = std::string_view("a:1:x\nb:1:x\nb:2:xx\nb:3:x\n").size();
  EXPECT_EQ(Run("x"), "a:1:x\nb:1:x\nb:2:xx\nb:3:x\n");
  maximum_output_bytes_ = std::string_view("a:1:x\nb:1:x\nb:3:x\n").size();
  EXPECT_EQ(
      Run("x"),
      "a:1:x\nb:1:x\n[Only the first 2 of 4 matching lines, in 2 files, are shown. Narrow the "
      "search with a path, an include or a longer pattern.]\n");
}

TEST_F(Grep, IncludeIsAPatternForPathsWithBraces) {
  for (const char* name : {"a.ts", "src/b.tsx", "src/deep/c.ts", "d.js", ".e.ts"}) {
    Write(name, "needle");
  }
  const std::vector<std::pair<const char*, std::string>> cases = {
      {"*.{ts,tsx}", ".e.ts a.ts src/b.tsx src/deep/c.ts "},
      {"src/*.{ts,tsx}", "src/b.tsx "},
      {"src/**/*.ts", "src/deep/c.ts "},
      {"**/*.js", "d.js "},
      {"src", ""},
      {"src/", "src/b.tsx src/deep/c.ts "},
      {"src/deep", "src/deep/c.ts "},
      {"d.js", "d.js "},
      {"[a-d].?s", "a.ts d.js src/deep/c.ts "},
      {"**", ".e.ts a.ts d.js src/b.tsx src/deep/c.ts "},
      {"*", ".e.ts a.ts d.js src/b.tsx src/deep/c.ts "},
      {":(exclude)*", ""},
      {"--*", ""},
  };
  const auto check = [&] {
    for (const auto& [include, expected] : cases) {
      std::string files;
      std::istringstream lines(Run("needle", include));
      for (std::string line; std::getline(lines, line);) {
        files += line.substr(0, line.find(':')) + " ";
      }
      EXPECT_EQ(files, expected) << include;
    }
  };
  check();
  WithoutGit();
  check();
}

TEST(IncludeFilter, TurnsPatternsIntoPathspecs) {
  const auto pathspecs = [](const char* include) { return IncludeFilter(include).pathspecs; };
  using Pathspecs = std::vector<std::string>;
  EXPECT_EQ(pathspecs("*.js"), Pathspecs({":(glob)**/*.js"}));
  EXPECT_EQ(pathspecs("*.{ts,tsx}"), Pathspecs({":(glob)**/*.ts", ":(glob)**/*.tsx"}));
  EXPECT_EQ(pathspecs("./src//**/*.[ch]"), Pathspecs({":(glob)src/**/*.*"}));
  EXPECT_EQ(pathspecs("src/lib"), Pathspecs({":(glob)src/lib/**", ":(glob)src/lib"}));
  EXPECT_EQ(pathspecs("src/"), Pathspecs({":(glob)src/**"}));
  EXPECT_EQ(pathspecs("**"), Pathspecs({":(glob)**"}));
  EXPECT_EQ(pathspecs("\\{a,b\\}"), Pathspecs({":(glob)**/{a,b}"}));
  EXPECT_EQ(pathspecs("x?[ab]{c,?}"), Pathspecs({":(glob)**/x*c", ":(glob)**/x*"}));
}

}  // namespace
}  // namespace find
