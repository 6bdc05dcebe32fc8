#include "find/content_search.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.h"
#include "testing/eventually.h"
#include "unit/find/search_fixture.h"

namespace find {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Grep : public SearchFixture {
 protected:
  std::string Run(const std::string& pattern, const char* include = nullptr) {
    return RunIn("", pattern, include);
  }

  std::string RunIn(const std::string& directory, const std::string& pattern,
                    const char* include = nullptr, const std::string& file = "") {
    std::optional<IncludeFilter> filter;
    if (include != nullptr) filter.emplace(include);
    result_ = SearchContent(guest_,
                            {.directory = Path(directory).string(),
                             .file = file,
                             .pattern = pattern,
                             .include = filter ? &*filter : nullptr,
                             .maximum_output_bytes = maximum_output_bytes_},
                            context_);
    return result_.lines;
  }

  std::string ErrorOf(const std::string& pattern) {
    try {
      return "found: " + Run(pattern);
    } catch (const support::CallError& error) {
      return error.what();
    }
  }

  void PutFirst(const std::string& name, const std::string& script) {
    const auto path = Outside("programs") / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << script;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    guest_.setup = "PATH=" + Outside("programs").string() + ":$PATH; export PATH; ";
  }

  /// All that is used without git.
  void WithoutGit() {
    guest_.OfferOnly(Outside("few"), {{"sh", "/bin/sh"},
                                      {"find", FindProgram("find")},
                                      {"sort", FindProgram("sort")},
                                      {"xargs", FindProgram("xargs")},
                                      {"grep", FindProgram("grep")},
                                      {"cat", FindProgram("cat")}});
  }

  std::size_t maximum_output_bytes_ = std::size_t{1} << 20;
  SearchResult result_;
};

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

/// Runs each search with git, grep, and BusyBox's grep where there is one. All give the same lines.
class GrepOptions : public Grep {
 protected:
  GrepOptions() {
    const std::string busybox = FindProgram("busybox");
    std::vector<std::pair<std::string, std::string>> few;
    std::vector<std::pair<std::string, std::string>> fewest;
    for (const char* name : {"sh", "find", "sort", "xargs", "grep", "cat"}) {
      few.emplace_back(name, FindProgram(name));
      fewest.emplace_back(name, busybox);
    }
    with_grep_.OfferOnly(Outside("few"), few);
    if (!busybox.empty()) with_busybox_.OfferOnly(Outside("fewest"), fewest);
  }

  std::string Search(SearchRequest request) {
    request.directory = Path("").string();
    if (request.maximum_output_bytes == shell::kDefaultMaxOutput) {
      request.maximum_output_bytes = maximum_output_bytes_;
    }
    std::string lines = SearchContent(guest_, request, context_).lines;
    EXPECT_EQ(SearchContent(with_grep_, request, context_).lines, lines) << "grep";
    if (!with_busybox_.setup.empty()) {
      EXPECT_EQ(SearchContent(with_busybox_, request, context_).lines, lines) << "BusyBox";
    }
    return lines;
  }

  /// "a", "b", … one on each line.
  void WriteLetters(const std::string& name, char last = 'i') const {
    std::string text;
    for (char letter = 'a'; letter <= last; ++letter) text += std::string(1, letter) + "\n";
    Write(name, text);
  }

  testing_support::LocalGuest with_grep_;
  testing_support::LocalGuest with_busybox_;
};

TEST_F(GrepOptions, CaseMayBeIgnored) {
  Write("a", "Needle\nneedle\nNEEDLE\n");
  EXPECT_EQ(Search({.pattern = "need[l]e"}), "a:2:needle\n");
  EXPECT_EQ(Search({.pattern = "need[l]e", .case_sensitive = false}),
            "a:1:Needle\na:2:needle\na:3:NEEDLE\n");
  EXPECT_EQ(Search({.pattern = "nEEDle", .case_sensitive = false, .fixed_strings = true}),
            "a:1:Needle\na:2:needle\na:3:NEEDLE\n");
}

TEST_F(GrepOptions, FixedStringsAreNoExpressions) {
  Write("a", "f(x)\nfx\na.*b\n(?!\n");
  EXPECT_EQ(Search({.pattern = "f(x)", .fixed_strings = true}), "a:1:f(x)\n");
  EXPECT_EQ(Search({.pattern = "f(", .fixed_strings = true}), "a:1:f(x)\n");
  EXPECT_EQ(Search({.pattern = ".*", .fixed_strings = true}), "a:3:a.*b\n");
  EXPECT_EQ(Search({.pattern = "(?!", .fixed_strings = true}), "a:4:(?!\n");
  EXPECT_EQ(Search({.pattern = "--f", .fixed_strings = true}), "");
}

TEST_F(GrepOptions, ContextIsMarkedAndGrouped) {
  WriteLetters("x");
  WriteLetters("y", 'c');
  EXPECT_EQ(
      Search({.pattern = "[bg]", .before = 1, .after = 2}),
      "x-1-a\nx:2:b\nx-3-c\nx-4-d\n--\nx-6-f\nx:7:g\nx-8-h\nx-9-i\n--\ny-1-a\ny:2:b\ny-3-c\n");
  EXPECT_EQ(Search({.pattern = "[bd]", .after = 1}),
            "x:2:b\nx-3-c\nx:4:d\nx-5-e\n--\ny:2:b\ny-3-c\n");
  EXPECT_EQ(Search({.pattern = "[adi]", .before = 2}),
            "x:1:a\nx-2-b\nx-3-c\nx:4:d\n--\nx-7-g\nx-8-h\nx:9:i\n--\ny:1:a\n");
  EXPECT_EQ(Search({.pattern = "[i]", .before = 100, .after = 100}),
            "x-1-a\nx-2-b\nx-3-c\nx-4-d\nx-5-e\nx-6-f\nx-7-g\nx-8-h\nx:9:i\n");
}

TEST_F(GrepOptions, ContextThatLooksLikeAMatchIsNone) {
  Write("a", "x:1:y\n-7-\nneedle\n--\n9:needl\n\n");
  EXPECT_EQ(Search({.pattern = "needle", .before = 9, .after = 9}),
            "a-1-x:1:y\na-2--7-\na:3:needle\na-4---\na-5-9:needl\na-6-\n");
}

TEST_F(GrepOptions, ContextIsRightForNamesThatLookLikeNumbersOfLines) {
  Write("v-1-2.txt", "one\nneedle\n");
  Write("v:1:2.txt", "one\nneedle\n");
  const SearchRequest request = {.directory = Path("").string(), .pattern = "needle", .before = 1};
  const std::string expected =
      "v-1-2.txt-1-one\nv-1-2.txt:2:needle\n--\nv:1:2.txt-1-one\nv:1:2.txt:2:needle\n";
  EXPECT_EQ(SearchContent(guest_, request, context_).lines, expected);
  EXPECT_EQ(SearchContent(with_grep_, request, context_).lines, expected);
}

TEST_F(GrepOptions, ContextWorksWithPatternsThatAreMatchedLineByLine) {
  Write("a", "x else\n{\nelse y\n");
  const SearchRequest request = {
      .directory = Path("").string(), .pattern = R"(else(?!\s*\{))", .after = 1};
  EXPECT_EQ(SearchContent(guest_, request, context_).lines, "a:1:x else\na-2-{\na:3:else y\n");
}

TEST_F(GrepOptions, NamesOnlyNamesEachFileOnce) {
  Write("a", "needle\nneedle\n");
  Write("b \"c\"/d", "needle\n");
  Write("e", "x\n");
  EXPECT_EQ(Search({.pattern = "needle", .names_only = true}), "a\n\"b \\\"c\\\"/d\"\n");
  EXPECT_EQ(Search({.pattern = "needle", .before = 1, .after = 1, .names_only = true}),
            "a\n\"b \\\"c\\\"/d\"\n");
  EXPECT_EQ(Search({.pattern = "needle", .names_only = true, .maximum_per_file = 1}),
            "a\n\"b \\\"c\\\"/d\"\n");
  EXPECT_EQ(Search({.pattern = "needle", .names_only = true, .maximum_total = 1}),
            "a\n[Only 1 of 2 files are shown. Raise total_max_matches for more.]\n");
  EXPECT_EQ(Search({.pattern = "needle", .maximum_output_bytes = 3, .names_only = true}),
            "a\n[Only the first 1 of 2 files are shown. Narrow the search with a path, an include "
            "or a longer pattern.]\n");
  const IncludeFilter include("a*");
  EXPECT_EQ(Search({.pattern = "needle", .include = &include, .names_only = true}), "a\n");
  EXPECT_EQ(Search({.file = "a", .pattern = "needle", .names_only = true}), "a\n");
}

TEST_F(GrepOptions, NoIgnoreSearchesWhatGitIgnoresButNotDotGit) {
  Git("", "init -q .");
  Write(".gitignore", "*.log\n");
  Write("a.log", "needle\n");
  Write(".git/b", "needle\n");
  EXPECT_EQ(Search({.pattern = "needle", .no_ignore = true}), "a.log:1:needle\n");
  EXPECT_EQ(Run("needle"), "");
}

TEST_F(GrepOptions, LimitsOfMatchesCountTheRest) {
  Write("a", "x\nx\nx\n");
  Write("b", "x\ny\nx\n");
  EXPECT_EQ(Search({.pattern = "x", .maximum_per_file = 3, .maximum_total = 5}),
            "a:1:x\na:2:x\na:3:x\nb:1:x\nb:3:x\n");
  EXPECT_EQ(Search({.pattern = "x", .maximum_per_file = 1}),
            "a:1:x\nb:1:x\n[Only 2 of 5 matching lines, in 2 files, are shown. Raise "
            "max_matches_per_file for more.]\n");
  EXPECT_EQ(Search({.pattern = "x", .maximum_total = 4}),
            "a:1:x\na:2:x\na:3:x\nb:1:x\n[Only 4 of 5 matching lines, in 2 files, are shown. "
            "Raise total_max_matches for more.]\n");
  EXPECT_EQ(Search({.pattern = "x", .maximum_per_file = 2, .maximum_total = 3}),
            "a:1:x\na:2:x\nb:1:x\n[Only 3 of 5 matching lines, in 2 files, are shown. Raise "
            "max_matches_per_file and total_max_matches for more.]\n");
}

TEST_F(GrepOptions, ContextOfMatchesThatAreCutIsCutToo) {
  WriteLetters("x");
  WriteLetters("y", 'b');
  EXPECT_EQ(Search({.pattern = "[beh]", .before = 1, .after = 1, .maximum_per_file = 1}),
            "x-1-a\nx:2:b\nx-3-c\n--\ny-1-a\ny:2:b\n[Only 2 of 4 matching lines, in 2 files, are "
            "shown. Raise max_matches_per_file for more.]\n");
  EXPECT_EQ(Search({.pattern = "[bc]", .after = 3, .maximum_total = 1}),
            "x:2:b\n[Only 1 of 3 matching lines, in 2 files, are shown. Raise total_max_matches "
            "for more.]\n");
}

TEST_F(GrepOptions, AGroupIsKeptWhollyOrNotAtAll) {
  WriteLetters("x", 'c');
  WriteLetters("y", 'c');
  const std::string all = "x-1-a\nx:2:b\nx-3-c\n--\ny-1-a\ny:2:b\ny-3-c\n";
  maximum_output_bytes_ = all.size();
  EXPECT_EQ(Search({.pattern = "b", .before = 1, .after = 1}), all);
  maximum_output_bytes_ = all.size() - 1;
  EXPECT_EQ(Search({.pattern = "b", .before = 1, .after = 1}),
            "x-1-a\nx:2:b\nx-3-c\n--\ny-1-a\ny:2:b\n[The context after the last match is not "
            "complete.]\n");
  maximum_output_bytes_ = all.size() - 7;
  EXPECT_EQ(Search({.pattern = "b", .before = 1, .after = 1}),
            "x-1-a\nx:2:b\nx-3-c\n[Only the first 1 of 2 matching lines, in 2 files, are shown. "
            "Narrow the search with a path, an include or a longer pattern.]\n");
}

}  // namespace
}  // namespace find
