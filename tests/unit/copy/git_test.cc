#include "copy/git.h"

#include <cstdlib>
#include <utility>

#include "unit/copy/copy_fixture.h"

namespace copy {
namespace {

using ::testing::HasSubstr;

using GitTest = CopyTest;

// Each test is a process of its own.
TEST_F(GitTest, OnlyTheUsersReadsTheUsersConfigurationAndNoneHasOtherVariables) {
  const std::string file = project / "global";
  WriteFile(file, "[a]\nglobal = yes\n");
  for (const auto& [name, value] : {std::pair{"GIT_CONFIG_GLOBAL", file.c_str()},
                                    {"GIT_CONFIG_COUNT", "1"},
                                    {"GIT_CONFIG_KEY_0", "a.other"},
                                    {"GIT_CONFIG_VALUE_0", "yes"}}) {
    ASSERT_EQ(::setenv(name, value, 1), 0);
  }
  const Git neutral = Git::Neutral(project / ".git", -1);
  const Git users = Git::Users(project, -1);
  EXPECT_EQ(users.Run({"config", "a.global"}).Line(), "yes");
  EXPECT_EQ(neutral.Run({"config", "a.global"}).status, 1);
  for (const Git& git : {neutral, users}) EXPECT_EQ(git.Run({"config", "a.other"}).status, 1);
}

TEST_F(GitTest, IsStoppedIfItWaitsForAPipe) {
  testing_support::RunProcess({.arguments = {"mkfifo", (project / ".gitignore").string()}});
  const Git git = Git::Neutral(project / ".git", -1);
  const Git::Arguments listing = {"ls-files", "-o", "--exclude-standard"};
  const Git limited = git.In(project, std::chrono::seconds(1));
  EXPECT_THAT(
      ErrorOf([&] { limited.Require(listing, "git cannot list"); }),
      HasSubstr("git cannot list: git was stopped after 1 s. If it waits for a pipe, find . -t"));
  const auto read = [](std::string_view) { return true; };
  EXPECT_THAT(ErrorOf([&] { limited.Read(listing, read, "git waits"); }),
              HasSubstr("git waits: git was stopped after 1 s."));
  fs::remove(project / ".gitignore");
  EXPECT_EQ(git.In(project, std::chrono::seconds(60)).Run(listing).status, 0);
}

}  // namespace
}  // namespace copy
