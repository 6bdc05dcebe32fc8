// search_file_content and glob through the real binary and a real sshd: in repositories; hostile
// patterns and includes are nothing else. tests/git_versions runs this with other versions of git;
// tests/suites/{glob,search_file_content}.txt have all else.

#include <algorithm>
#include <cstdlib>

#include "integration/fixture.h"

namespace integration {
namespace {

class SearchCorpus : public IntegrationTest {
 protected:
  /// The git that guests have: this machine's, or the one in the directory that GUEST_GIT names.
  static std::string UsualPath() {
    const std::string system = "/opt/homebrew/bin:/usr/local/bin:/usr/bin:/bin";
    const char* directory = std::getenv("GUEST_GIT");
    return directory == nullptr ? system : std::string(directory) + ":" + system;
  }

  /// Starts a guest with a home of its own, and a server for it.
  McpClient& StartGuest(const std::string& name) {
    LoopbackInstance::Options options;
    options.name = name;
    options.mounts = {{root, "", true}};
    // sshd uses only one such line: this replaces the instance's own.
    const fs::path home = MakeDirectory("home-" + name);
    options.sshd_options = {"SetEnv HOME=" + home.string() + " PATH=" + UsualPath()};
    StartInstance(std::move(options));
    return Serve({.arguments = {name}});
  }

  /// The lines that a search finds, or "error: " and the text of the error.
  std::string Search(McpClient& server, json arguments) {
    if (!arguments.contains("path")) arguments["path"] = root;
    const json result = server.CallTool("search_file_content", arguments);
    if (result.value("isError", false)) return "error: " + TextOf(result);
    return result.at("structuredContent").at("git_grep_output");
  }

  /// Paths relative to the root, sorted; an error likewise.
  std::vector<std::string> Find(McpClient& server, json arguments) {
    if (!arguments.contains("path")) arguments["path"] = root;
    const json result = server.CallTool("glob", arguments);
    if (result.value("isError", false)) return {"error: " + TextOf(result)};
    std::vector<std::string> matches = result.at("structuredContent").at("matches");
    for (std::string& match : matches) {
      EXPECT_EQ(match.substr(0, root.size() + 1), root + "/");
      match.erase(0, std::min(match.size(), root.size() + 1));
    }
    std::sort(matches.begin(), matches.end());
    return matches;
  }

  /// Runs git in `directory`, without the user's configuration.
  void RunGit(const std::string& directory, const Command& arguments) {
    Command command = {"git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", directory};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ProcessResult result =
        RunProcess({.arguments = command,
                    .environment = {{"HOME", Path().string()}, {"GIT_CONFIG_NOSYSTEM", "1"}}});
    ASSERT_EQ(result.exit_code, 0) << result.error;
  }
};

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
  McpClient& client = StartGuest("guest");
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
  McpClient& client = StartGuest("guest");
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
  McpClient& client = StartGuest("guest");
  EXPECT_THAT(Find(client, {{"pattern", "**/*.{c,tmp}"}}), ElementsAre("sub/lib.c"));
  EXPECT_THAT(Search(client, {{"pattern", "needle"}}), HasSubstr("sub/lib.c:1:needle\n"));
}

class SearchInjection : public SearchCorpus {
 protected:
  void SetUp() override { StartGuest("default"); }
  void TearDown() override { EXPECT_FALSE(fs::exists(pwned)); }

  /// The pattern finds the line that contains it, and no other.
  void ExpectOnlyAPattern(const std::string& pattern, const std::string& line) {
    MakeFile("root/a", "first\n" + line + "\nroot:x:0:0\n");
    EXPECT_EQ(Search(client(), {{"pattern", pattern}}), "a:2:" + line + "\n");
    EXPECT_THAT(Find(client(), {{"pattern", pattern}}), IsEmpty());
  }

  std::string WithInclude(const std::string& include) {
    MakeFile("root/a", "root:x:0:0\n");
    return Search(client(), {{"pattern", "root"}, {"include", include}});
  }

  const std::string pwned = Path("pwned").string();
};

TEST_F(SearchInjection, PatternsAreNoOptionsAndNoShellCode) {
  for (const std::string& pattern :
       {std::string("--open-files-in-pager=sh -c id"), "--open-files-in-pager=touch " + pwned,
        std::string("-Osh"), "-Otouch " + pwned, std::string("-f/etc/passwd"), "--output=" + pwned,
        "'; touch " + pwned + "; '", "\"; touch " + pwned + " #\"", "`touch " + pwned + "`"}) {
    ExpectOnlyAPattern(pattern, pattern);
  }
  ExpectOnlyAPattern("--", "a--b");
  ExpectOnlyAPattern("-e", "x -e y");
  ExpectOnlyAPattern(R"(\$\(touch )" + pwned + R"(\))", "$(touch " + pwned + ")");
  EXPECT_EQ(Search(client(), {{"pattern", "$(touch " + pwned + ")"}}), "");
  EXPECT_THAT(Find(client(), {{"pattern", "$(touch " + pwned + ")/**"}}), IsEmpty());
}

TEST_F(SearchInjection, IncludesAreOnlyPatterns) {
  for (const std::string& include :
       {std::string(":(exclude)*"), std::string(":!b"), std::string(":(top)*"), std::string(":/"),
        "--output=" + pwned, std::string("--open-files-in-pager=sh"), "';touch " + pwned + ";'",
        "$(touch " + pwned + ")`touch " + pwned + "`", "a\n touch " + pwned}) {
    EXPECT_EQ(WithInclude(include), "") << include;
  }
  MakeFile("root/:(exclude)x", "root\n");
  EXPECT_EQ(WithInclude(":(exclude)*"), ":(exclude)x:1:root\n");
  MakeFile("root/--output=x", "root\n");
  EXPECT_EQ(WithInclude("--output=x"), "--output=x:1:root\n");
}

TEST_F(SearchInjection, RegularExpressionsThatExplode) {
  MakeFile("root/a", std::string(5000, 'a') + "b\n");
  // git fails with an error, or finds no match.
  for (const char* pattern : {"(a+)+$", "(a|aa)+$", "(.*)*x$", "^(([a-z])+.)+[A-Z]([a-z])+$"}) {
    EXPECT_THAT(Search(client(), {{"pattern", pattern}}),
                AnyOf("", HasSubstr("error: git grep failed")))
        << pattern;
  }
  EXPECT_THAT(Search(client(), {{"pattern", "((((a{1,100}){1,100}){1,100}){1,100})"}}),
              AnyOf(HasSubstr("a:1:"), HasSubstr("error: git grep failed")));
}

}  // namespace
}  // namespace integration
