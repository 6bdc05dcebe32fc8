// SPDX-License-Identifier: Apache-2.0
// tests/suites/search_file_content.txt has all that a client sees.

#include "find/content_search.h"

#include <gmock/gmock.h>
#include <signal.h>

#include <string>
#include <vector>

#include "testing/error_of.h"
#include "testing/eventually.h"
#include "testing/files.h"
#include "unit/server/find/search_fixture.h"

namespace find {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ContentSearch : public SearchFixture {
 protected:
  std::string Run(const std::string& pattern, const std::string& below = "") {
    result_ =
        SearchContent(guest_, {.directory = Path(below).string(), .pattern = pattern}, context_);
    return result_.lines;
  }

  SearchResult result_;
};

TEST_F(ContentSearch, ReportsUnreadableFiles) {
  if (!ActAsOrdinaryUser()) GTEST_SKIP() << "needs setpriv to run as an ordinary user";
  for (const char* name : {"open", "secret file", "secret directory/x"}) Write(name, "needle\n");
  for (const char* name : {"secret file", "secret directory"}) {
    std::filesystem::permissions(Path(name), std::filesystem::perms::none);
  }
  EXPECT_EQ(Run("needle"), "open:1:needle\n");
  EXPECT_THAT(result_.warnings, AllOf(HasSubstr("secret file"), HasSubstr("secret directory")));
  std::filesystem::permissions(Path("secret directory"), std::filesystem::perms::owner_all);
}

TEST_F(ContentSearch, FailsWithoutAnExitStatusOrADirectory) {
  Write("a", "needle\n");
  EXPECT_THAT(testing_support::ErrorOf([&] { return Run("needle", "missing"); }),
              HasSubstr("cannot be entered"));
  guest_.set_run([this](const shell::Script& script, shell::OutputSink& sink, const auto& context) {
    guest_.RunHere(script, sink, context);
    return shell::RunEnd();
  });
  EXPECT_THROW(Run("needle"), support::Error);
}

TEST_F(ContentSearch, TheDeadlineStopsACatastrophicPatternInTheGuest) {
  const std::filesystem::path git = Outside("programs/git");
  testing_support::WriteFile(
      git, "#!/bin/sh\necho $$ >" + Outside("pid").string() + "\nwhile :; do :; done\n");
  std::filesystem::permissions(git, std::filesystem::perms::owner_all);
  guest_.setup += "PATH=" + git.parent_path().string() + ":$PATH; export PATH; ";
  Write("a", std::string(200, 'a'));
  context_ = support::Context().WithTimeout(std::chrono::milliseconds(300));
  EXPECT_THROW(Run("(a|a)*$"), support::Stopped);
  pid_t process = 0;
  std::ifstream(Outside("pid")) >> process;
  ASSERT_GT(process, 0);
  EXPECT_TRUE(testing_support::Eventually([&] { return kill(process, 0) != 0; }))
      << "it still runs";
}

TEST(NeedsLineBreak, IfNoLineCanMatchWithoutOne) {
  for (const char* expression : {R"(foo\nbar)", R"(foo\r\nbar)", R"(foo\Rbar)", R"(foo\s*\n\s*bar)",
                                 R"(\n{2,})", R"(a\x0ab)", R"(a\x{a}b)", R"(a\012b)",
                                 R"(foo[\n]bar)", R"(\\\n)", R"((?!x)\n)", R"([a\]]\n)"}) {
    EXPECT_TRUE(NeedsLineBreak(expression)) << expression;
  }
  for (const char* expression :
       {R"(foo [^\n]*z)", R"(^[^\r\n]+ baz)", R"(foo\n?bar)", R"(foo\n*bar)", R"(foo\\nbar)",
        R"(foo(\n|$))", R"(foo($|\n))", R"([\s\n])", R"(foo(?!\n))", R"(foo(?<!\n)x)",
        R"(\Qa\nb\E)", "n"}) {
    EXPECT_FALSE(NeedsLineBreak(expression)) << expression;
  }
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
