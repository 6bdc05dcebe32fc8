#include "copy/git.h"

#include "unit/copy/copy_fixture.h"

namespace copy {
namespace {

using ::testing::HasSubstr;

using GitTest = CopyTest;

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
