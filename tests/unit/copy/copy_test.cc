// SPDX-License-Identifier: Apache-2.0
#include "copy/copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "copy/diff.h"
#include "git/git.h"
#include "support/pipe.h"
#include "testing/child_process.h"
#include "testing/error_of.h"
#include "testing/files.h"
#include "testing/temporary_directory.h"

namespace copy {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::ErrorOf;
using testing_support::WriteFile;

/// A repository with one commit, and its side repository.
class CopyTest : public ::testing::Test {
 protected:
  CopyTest() {
    fs::create_directories(project);
    WriteFile(project / "file.txt", "one\n");
    Run({"init", "-q", "-b", "main"});
    Run({"add", "-A"});
    Run({"commit", "-q", "-m", "first"});
  }

  std::string Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"git", "-c", "user.name=Ann", "-c", "user.email=a@b", "-c",
                                         "maintenance.auto=false"});
    const auto result = testing_support::RunProcess(
        {.arguments = std::move(arguments), .working_directory = project.string()});
    EXPECT_EQ(result.exit_code, 0) << result.error;
    std::string output = result.output;
    if (output.ends_with('\n')) output.pop_back();
    return output;
  }

  [[nodiscard]] SidePlace Place() const {
    return {directory_.path() / "agent", project.string(), ""};
  }

 private:
  testing_support::TemporaryDirectory directory_;

 protected:
  const fs::path project = directory_.path() / "project";
};

// Each test is a process of its own.
TEST_F(CopyTest, OnlyTheUsersGitReadsTheUsersConfigurationAndNoneHasOtherVariables) {
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

TEST_F(CopyTest, GitIsStoppedIfItWaitsForAPipe) {
  testing_support::RunProcess({.arguments = {"mkfifo", (project / ".gitignore").string()}});
  const Git git = Git::Neutral(project / ".git", -1);
  const Git::Arguments listing = {"ls-files", "-o", "--exclude-standard"};
  const Git limited = git.In(project, std::chrono::seconds(1));
  EXPECT_THAT(
      ErrorOf([&] { limited.Require(listing, "git cannot list"); }),
      HasSubstr("git cannot list: git was stopped after 1s. If it waits for a pipe, find . -t"));
  const auto read = [](std::string_view) { return true; };
  EXPECT_THAT(ErrorOf([&] { limited.Read(listing, read, "git waits"); }),
              HasSubstr("git waits: git was stopped after 1s."));
  fs::remove(project / ".gitignore");
  EXPECT_EQ(git.In(project, std::chrono::seconds(60)).Run(listing).status, 0);
}

TEST(GitLinks, AreFoundOnEitherSide) {
  const std::string ids = " 1111 2222 ";
  std::string raw;
  for (const char* line : {":100644 160000", ":160000 000000", ":100644 100755"}) {
    raw += line + ids + "M" + '\0' + "name" + line[1] + line[8] + '\0';
  }
  EXPECT_THAT(GitLinks(git::ParseRaw(raw)), ElementsAre("name11", "name10"));
}

TEST_F(CopyTest, ASideRepositoryBorrowsObjectsAndKeepsRefs) {
  const std::string head = Run({"rev-parse", "HEAD"});
  {
    SideRepository side(Place());
    EXPECT_FALSE(side.place().ReadFacts());
    side.Prepare(ReadProject(project, Git::Users(project, side.lock())));
    side.Save({project.string(), "/copy", "main", head, head, head, head});
    side.Save({project.string(), "/copy", "main", head, "", "", head});
  }
  const SideRepository side(Place());
  EXPECT_EQ(side.facts().directory, "/copy");
  EXPECT_EQ(side.facts().sent, head);
  EXPECT_EQ(side.facts().base, "");
  EXPECT_EQ(side.git().Run({"for-each-ref", "--format=%(objectname)"}).output, head + "\n");
}

TEST(FileLock, IsSharedOrExclusiveAndHeldByChildrenOfGit) {
  const testing_support::TemporaryDirectory directory;
  const auto take = [&](LockKind kind = LockKind::kExclusive) {
    return LockFile(directory.path() / "lock", kind, std::chrono::milliseconds(0));
  };
  auto lock = take(LockKind::kShared);
  EXPECT_TRUE(take(LockKind::kShared));
  EXPECT_FALSE(take());
  lock.reset();
  lock = take();
  support::Pipe input;
  support::Child child = Git::Users(directory.path(), lock->get())
                             .Start({"hash-object", "--stdin"}, {.input = input.read_end.get()});
  lock.reset();
  EXPECT_FALSE(take());
  input.write_end.Close();
  EXPECT_EQ(child.Finish(), 0);
  EXPECT_TRUE(take());
}

TEST(TerminalLines, AreColouredByTheirFirstCharactersAndPassNoControlCharacters) {
  std::string rest;
  EXPECT_EQ(TerminalLines("+new\n-old\n same\n@@ -1 +1 @@\n", rest),
            "\x1b[32m+new\x1b[m\n\x1b[31m-old\x1b[m\n same\n\x1b[36m@@ -1 +1 @@\x1b[m\n");
  EXPECT_EQ(TerminalLines(" a\x1b]0;title\x07\tb\r\n t", rest), " a\\x1b]0;title\\x07\tb\\x0d\n");
  EXPECT_EQ(TerminalLines("wo\n", rest), " two\n") << "an incomplete line is kept";
}

TEST(TerminalLines, AreCutIfTheyAreLong) {
  std::string rest;
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 3; ++i) EXPECT_EQ(TerminalLines(piece, rest), "");
  EXPECT_LT(rest.size(), piece.size());
  EXPECT_EQ(TerminalLines("\n", rest), std::string(4096, 'x') + "...\n");
}

}  // namespace
}  // namespace copy
