// search_file_content and glob through the real binary and a real sshd: in a repository, outside of
// one, and without git.

#include <gmock/gmock.h>

#include "integration/search_fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::McpClient;

class SearchCorpus : public SearchGuests {};

TEST_F(SearchCorpus, AnswersAreTheSameInARepositoryOutsideOfOneAndWithoutGit) {
  MakeFile("root/app.js", "one\nfunction  myFunction() {\n\nlast needle");
  MakeFile("root/d/ä.txt", "x needle y\nneedle\n");
  MakeFile("root/binary", std::string("needle\n\0", 8));
  MakeFile("root/.hidden", "caf\xE9 needle\n");
  MakeFile("root/nested/.git/config", "needle\n");
  MakeLink("root/link", root + "/app.js");
  McpClient& with_git = StartGuest("with-git", UsualPath());
  McpClient& without = StartGuest(
      "without-git", PathWithOnly("few", {"sh", "cat", "find", "sort", "xargs", "grep"}));
  const std::string lines =
      ".hidden:1:caf\uFFFD needle\napp.js:4:last needle\nd/ä.txt:1:x needle y\nd/ä.txt:2:needle\n";
  EXPECT_EQ(Search(with_git, {{"pattern", "needle"}}), lines);
  EXPECT_EQ(Search(without, {{"pattern", "needle"}}), lines);
  EXPECT_EQ(Search(without, {{"pattern", "^needle$"}, {"include", "*.txt"}}), "d/ä.txt:2:needle\n");
  EXPECT_EQ(Search(with_git, {{"pattern", R"(function\s+myFunction)"}}),
            "app.js:2:function  myFunction() {\n");
  EXPECT_EQ(Find(with_git, {{"pattern", "**/*"}}), Find(without, {{"pattern", "**/*"}}));
  RunGit(root, {"init", "-q"});
  RunGit(root, {"add", "d"});
  EXPECT_EQ(Search(with_git, {{"pattern", "needle"}}), lines);
}

TEST_F(SearchCorpus, GitConfigurationsChangeNothingAndRunNothing) {
  MakeFile("root/a.c", "int f() {\n  needle\n}\n");
  MakeFile("root/ä.c", "needle\n");
  MakeFile("root/.gitattributes", "*.c diff=evil filter=evil\n");
  RunGit(root, {"init", "-q"});
  RunGit(root, {"add", "a.c"});
  const std::string pwned = Path("pwned");
  const std::string evil = MakeFile("evil", "#!/bin/sh\necho \"$0 $*\" >>'" + pwned + "'\n");
  fs::permissions(evil, fs::perms(0755));
  const std::string ignore = MakeFile("ignore", "*\n");
  const std::string configuration =
      "[color]\n ui = always\n grep = always\n"
      "[grep]\n lineNumber = false\n column = true\n fullName = true\n patternType = fixed\n"
      "[core]\n quotePath = true\n fsmonitor = " +
      evil + "\n sshCommand = " + evil + "\n pager = " + evil + "\n editor = " + evil +
      "\n hooksPath = " + Path().string() + "\n excludesFile = " + ignore +
      "\n untrackedCache = true\n"
      "[alias]\n grep = !" +
      evil + "\n ls-files = !" + evil + "\n check-ignore = !" + evil +
      "\n[diff]\n external = " + evil + "\n[diff \"evil\"]\n textconv = " + evil +
      "\n command = " + evil + "\n[filter \"evil\"]\n clean = " + evil + "\n smudge = " + evil +
      "\n process = " + evil + "\n required = true\n[pager]\n grep = " + evil +
      "\n[credential]\n helper = !" + evil + "\n[include]\n path = " + Path("more").string() + "\n";
  MakeFile("more", "[grep]\n heading = true\n");
  MakeFile("home-guest/.gitconfig", configuration);
  MakeFile("home-guest/.config/git/ignore", "*\n");
  MakeFile("home-guest/.config/git/attributes", "* binary\n");
  // bash reads it for what sshd starts, a login profile would do the same.
  MakeFile("home-guest/.bashrc",
           "export GIT_PAGER='" + evil + "' GIT_EXTERNAL_DIFF='" + evil + "' GIT_SSH='" + evil +
               "' GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=grep.fullName GIT_CONFIG_VALUE_0=true "
               "GIT_LITERAL_PATHSPECS=1 GIT_DIR=/nowhere GIT_WORK_TREE=/ GIT_TRACE=1 "
               "GREP_OPTIONS=--color=always LANG=de_DE.UTF-8 GIT_CONFIG_GLOBAL='" +
               Path("home-guest/.gitconfig").string() + "'\n");
  MakeFile("root/.git/config", "[core]\n repositoryformatversion = 0\n" + configuration);
  MakeFile("root/.git/hooks/fsmonitor-watchman", "#!/bin/sh\ntouch '" + pwned + "'\n");
  fs::permissions(Path("root/.git/hooks/fsmonitor-watchman"), fs::perms(0755));
  McpClient& client = StartGuest("guest", UsualPath());
  EXPECT_EQ(Search(client, {{"pattern", R"(nee\w+)"}}), "a.c:2:  needle\nä.c:1:needle\n");
  EXPECT_EQ(Search(client, {{"pattern", "needle"}, {"include", "a*"}}), "a.c:2:  needle\n");
  EXPECT_THAT(Find(client, {{"pattern", "**/*.c"}}), ElementsAre("a.c", "ä.c"));
  EXPECT_FALSE(fs::exists(pwned)) << ReadFile(pwned);
}

TEST_F(SearchCorpus, EachRepositoryHasItsOwnIgnoreRules) {
  RunGit(Path().string(), {"init", "-q"});  // a repository above the root
  MakeFile(".gitignore", "*.above\n");
  MakeFile(".git/info/exclude", "*.excluded\n");
  MakeFile("root/.gitignore", "*.log\n/build/\n!kept.log\n");
  for (const std::string name :
       {"a.c", "a.above", "a.excluded", "a.log", "kept.log", "build/b.c", "sub/c.log", "sub/d.c",
        "inner/e.c", "inner/e.tmp", "inner/e.log"}) {
    MakeFile("root/" + name, "needle\n");
  }
  MakeFile("root/inner/.gitignore", "*.tmp\n");
  RunGit(root + "/inner", {"init", "-q"});
  McpClient& client = StartGuest("guest", UsualPath());
  // A nested repository has only its own rules.
  EXPECT_THAT(Find(client, {{"pattern", "**/?.*"}}),
              ElementsAre("a.c", "inner/e.c", "inner/e.log", "sub/d.c"));
  EXPECT_EQ(Search(client, {{"pattern", "needle"}, {"include", "*.{c,above,excluded}"}}),
            "a.c:1:needle\ninner/e.c:1:needle\nsub/d.c:1:needle\n");
  EXPECT_EQ(Search(client, {{"pattern", "needle"}, {"include", "kept.*"}}), "kept.log:1:needle\n");
  EXPECT_THAT(Find(client, {{"pattern", "build/**/*.c"}}), ElementsAre("build/b.c"));
  EXPECT_EQ(Search(client, {{"pattern", "needle"}, {"path", root + "/build"}}), "b.c:1:needle\n");
}

TEST_F(SearchCorpus, ASubmoduleHasItsOwnRules) {
  const std::string library = MakeDirectory("library");
  RunGit(library, {"init", "-q"});
  MakeFile("library/.gitignore", "*.tmp\n");
  MakeFile("library/lib.c", "needle\n");
  RunGit(library, {"add", "."});
  RunGit(library, {"commit", "-q", "-m", "library"});
  RunGit(root, {"init", "-q"});
  RunGit(root, {"-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "sub"});
  MakeFile("root/sub/x.tmp", "needle\n");
  McpClient& client = StartGuest("guest", UsualPath());
  EXPECT_THAT(Find(client, {{"pattern", "**/*.{c,tmp}"}}), ElementsAre("sub/lib.c"));
  EXPECT_THAT(Search(client, {{"pattern", "needle"}}), HasSubstr("sub/lib.c:1:needle\n"));
}

TEST_F(SearchCorpus, MaxOutputBoundsASearchToo) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "needle\n";
  MakeFile("root/a", text);
  Mount({{root, "", true}}, {"--max-output", "1KiB"});
  const std::string found = Search(client(), {{"pattern", "needle"}});
  EXPECT_THAT(found, HasSubstr("of 1000 matching lines, in 1 files, are shown."));
  EXPECT_LT(found.size(), 1024U + 200U);
}

}  // namespace
}  // namespace integration
