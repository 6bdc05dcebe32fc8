// glob and search_file_content through the real binary and a real sshd.

#include <gmock/gmock.h>

#include <chrono>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class SearchTools : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeDirectory("root");
    Mount({{root, "", true}});
  }
  void RunGit(const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {"git", "-C", root};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const testing_support::ProcessResult result = testing_support::RunProcess(
        {.arguments = command, .environment = {{"HOME", Path().string()}}});
    ASSERT_EQ(result.exit_code, 0) << result.error;
  }
  std::vector<std::string> Find(const std::string& pattern) {
    std::vector<std::string> matches = Glob({{"pattern", pattern}, {"path", root}});
    for (std::string& match : matches) {
      EXPECT_EQ(match.substr(0, root.size() + 1), root + "/");
      match = match.substr(std::min(match.size(), root.size() + 1));
    }
    return matches;
  }
  std::string Search(json arguments) {
    arguments["path"] = root;
    return Call("search_file_content", arguments).value("git_grep_output", "(failed)");
  }
  const std::string root = Path("root").string();
};

using GlobTool = SearchTools;
using SearchTool = SearchTools;

TEST_F(GlobTool, MatchesWithinOneComponent) {
  for (const std::string name : {"a.txt", "b.txt", "ab.md", ".hidden.txt", "sub/c.txt"})
    MakeFile("root/" + name, "");
  EXPECT_THAT(Find("*.txt"), UnorderedElementsAre("a.txt", "b.txt", ".hidden.txt"));
  EXPECT_THAT(Find("?.txt"), UnorderedElementsAre("a.txt", "b.txt"));
  EXPECT_THAT(Find("[b-z].txt"), ElementsAre("b.txt"));
  EXPECT_THAT(Find("{a,ab}.{txt,md}"), UnorderedElementsAre("a.txt", "ab.md"));
  EXPECT_THAT(Find("*/*.txt"), ElementsAre("sub/c.txt"));
}

TEST_F(GlobTool, TwoStarsCrossDirectories) {
  for (const std::string name : {"a.txt", "sub/b.txt", "sub/deep/c.txt", ".git/d.txt"})
    MakeFile("root/" + name, "");
  EXPECT_THAT(Find("**/*.txt"), UnorderedElementsAre("a.txt", "sub/b.txt", "sub/deep/c.txt"));
  EXPECT_THAT(Find("sub/**/*.txt"), UnorderedElementsAre("sub/b.txt", "sub/deep/c.txt"));
}

TEST_F(GlobTool, NewestComesFirst) {
  const auto now = fs::file_time_type::clock::now();
  for (int age = 0; age < 4; ++age) {
    const fs::path path = MakeFile("root/" + std::to_string(age) + ".txt", "");
    fs::last_write_time(path, now - std::chrono::hours(age == 3 ? 0 : age + 1));
  }
  EXPECT_THAT(Find("*.txt"), ElementsAre("3.txt", "0.txt", "1.txt", "2.txt"));
}

TEST_F(GlobTool, NoMatchIsAnEmptyList) {
  EXPECT_EQ(Call("glob", {{"pattern", "*.none"}, {"path", root}}),
            (json{{"matches", json::array()}}));
}

TEST_F(GlobTool, LeavesOutWhatGitIgnoresUnlessAskedForByName) {
  RunGit({"init", "-q"});
  MakeFile("root/.gitignore", "build/\n");
  MakeFile("root/a.txt", "");
  MakeFile("root/build/b.txt", "");
  EXPECT_THAT(Find("**/*.txt"), ElementsAre("a.txt"));
  EXPECT_THAT(Find("build/**/*.txt"), ElementsAre("build/b.txt"));
  EXPECT_THAT(Glob({{"pattern", "**/*.txt"}, {"path", root + "/build"}}),
              ElementsAre(root + "/build/b.txt"));
}

TEST_F(GlobTool, CaseCountsUnlessToldOtherwise) {
  MakeFile("root/README.md", "");
  EXPECT_THAT(Find("readme.*"), IsEmpty());
  EXPECT_THAT(Glob({{"pattern", "readme.*"}, {"path", root}, {"case_sensitive", false}}),
              ElementsAre(root + "/README.md"));
}

TEST_F(GlobTool, MissingPathIsAnErrorThatNamesIt) {
  EXPECT_THAT(Refusal("glob", {{"pattern", "*"}, {"path", root + "/missing"}}),
              HasSubstr(root + "/missing"));
}

TEST_F(GlobTool, BrokenPatternIsAnError) {
  EXPECT_THAT(Refusal("glob", {{"pattern", "[a"}, {"path", root}}), HasSubstr("[a"));
}

TEST_F(SearchTool, PrintsFileLineAndText) {
  MakeFile("root/a.txt", "nothing\nneedle here\n");
  MakeFile("root/sub/b.txt", "needle\n");
  EXPECT_EQ(Search({{"pattern", "needle"}}), "a.txt:2:needle here\nsub/b.txt:1:needle\n");
}

TEST_F(SearchTool, TakesItsOwnDocumentedExample) {
  MakeFile("root/a.js", "function  myFunction() {}\n");
  EXPECT_EQ(Search({{"pattern", R"(function\s+myFunction)"}}),
            "a.js:1:function  myFunction() {}\n");
}

TEST_F(SearchTool, IncludeNarrowsTheFilesAndExpandsBraces) {
  for (const std::string name : {"a.c", "b.h", "c.py", "sub/d.c"}) MakeFile("root/" + name, "x\n");
  EXPECT_EQ(Search({{"pattern", "x"}, {"include", "*.py"}}), "c.py:1:x\n");
  const std::string found = Search({{"pattern", "x"}, {"include", "**/*.{c,h}"}});
  EXPECT_THAT(found, HasSubstr("sub/d.c:1:x"));
  EXPECT_THAT(found, HasSubstr("b.h:1:x"));
  EXPECT_THAT(found, Not(HasSubstr("c.py")));
}

TEST_F(SearchTool, NoMatchIsAnEmptyText) {
  MakeFile("root/a.txt", "text\n");
  EXPECT_EQ(Search({{"pattern", "needle"}}), "");
}

TEST_F(SearchTool, BinaryAndIgnoredFilesAreLeftOut) {
  RunGit({"init", "-q"});
  MakeFile("root/.gitignore", "*.log\n");
  MakeFile("root/a.log", "needle\n");
  MakeFile("root/a.bin", std::string("needle\0\n", 8));
  MakeFile("root/a.txt", "needle\n");
  EXPECT_EQ(Search({{"pattern", "needle"}}), "a.txt:1:needle\n");
}

TEST_F(SearchTool, BadPatternIsAnErrorWithGitsWords) {
  MakeFile("root/a.txt", "text\n");
  EXPECT_THAT(Refusal("search_file_content", {{"pattern", "("}, {"path", root}}),
              AllOf(HasSubstr("git grep failed"), HasSubstr("missing"), Not(HasSubstr("Aborted"))));
}

TEST_F(SearchTool, PatternsAndIncludesAreNeverOptions) {
  MakeFile("root/a.txt", "text\n");
  MakeFile("outside/a.txt", "needle\n");
  const std::string pwned = Path("pwned");
  for (const std::string& pattern :
       {"--open-files-in-pager=touch " + pwned, "-Otouch " + pwned, std::string("-f/etc/passwd"),
        "$(touch " + pwned + ")", "`touch " + pwned + "`", "'; touch " + pwned + "; '",
        "--output=" + pwned}) {
    client().CallTool("search_file_content", {{"pattern", pattern}, {"path", root}});
    client().CallTool("glob", {{"pattern", pattern}, {"path", root}});
  }
  for (const std::string include : {"../outside/*", ":(exclude)*", ":(top)*", "--output=/tmp/x",
                                    "../../../../etc/*", "/etc/*"}) {
    const json result = client().CallTool(
        "search_file_content", {{"pattern", "needle|root"}, {"path", root}, {"include", include}});
    EXPECT_THAT(result.dump(), Not(HasSubstr("outside/a.txt"))) << include;
    EXPECT_THAT(result.dump(), Not(HasSubstr("/bin/bash"))) << include;
  }
  EXPECT_FALSE(fs::exists(pwned));
}

}  // namespace
}  // namespace integration
