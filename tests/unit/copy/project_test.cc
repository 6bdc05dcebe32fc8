#include <string>
#include <vector>

#include "unit/copy/copy_fixture.h"

namespace copy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ProjectTest : public CopyTest {
 protected:
  Snapshot Take() {
    SideRepository side(Place());
    const Git users = Git::Users(project, side.lock());
    const Project read = ReadProject(project, users);
    side.Prepare(read);
    const Snapshot snapshot = TakeSnapshot(read, users, side);
    names = side.git().Run({"ls-tree", "-r", "--name-only", snapshot.commit}).Line();
    text = side.git().Run({"show", snapshot.commit + ":file.txt"}).output;
    return snapshot;
  }

  std::string names;
  std::string text;
};

TEST_F(ProjectTest, ACleanTreeIsItsHead) {
  const Snapshot snapshot = Take();
  EXPECT_EQ(snapshot.commit, Run({"rev-parse", "HEAD"}));
  EXPECT_THAT(snapshot.notes, IsEmpty());
}

TEST_F(ProjectTest, TheSameStateIsTheSameCommit) {
  WriteFile(project / "file.txt", "two\n");
  WriteFile(project / "new", "");
  const std::string status = Run({"status", "--porcelain"});
  const std::string first = Take().commit;
  EXPECT_EQ(Take().commit, first);
  EXPECT_EQ(names, "file.txt\nnew");
  EXPECT_EQ(text, "two\n");
  EXPECT_EQ(Run({"status", "--porcelain"}), status);
}

// git compares times and sizes: the index's copy needs the time of the index.
TEST_F(ProjectTest, FindsAChangeInTheSecondOfTheLastAdd) {
  for (int round = 0; round < 20; ++round) {
    WriteFile(project / "file.txt", "aaa\n");
    Run({"add", "file.txt"});
    WriteFile(project / "file.txt", "bbb\n");
    Take();
    ASSERT_EQ(text, "bbb\n") << round;
  }
}

TEST_F(ProjectTest, LeavesOutRepositoriesInTheTree) {
  WriteFile(project / "inner/file", "");
  Run({"init", "-q", "inner"});
  Run({"-C", "inner", "add", "-A"});
  Run({"-C", "inner", "commit", "-q", "-m", "inner"});
  const Snapshot snapshot = Take();
  EXPECT_EQ(names, "file.txt");
  EXPECT_THAT(snapshot.notes, ElementsAre(HasSubstr("repositories of their own: inner")));
}

TEST_F(ProjectTest, IsRefusedWithoutACommit) {
  EXPECT_THAT(ErrorOf([&] { FindTop(project.parent_path()); }),
              HasSubstr("is not in a git repository: git init, and commit once."));
  EXPECT_EQ(FindTop(project), project);
  Run({"checkout", "-q", "--orphan", "empty"});
  EXPECT_EQ(ErrorOf([&] { ReadProject(project, Git::Users(project, -1)); }),
            "There is no commit yet: git add -A && git commit.");
  Run({"init", "-q", "--bare", "bare"});
  EXPECT_THAT(ErrorOf([&] { FindTop(project / "bare"); }), HasSubstr("is a bare repository"));
}

TEST_F(ProjectTest, RunsNoHook) {
  WriteFile(project / "new", "");
  for (const char* hook : {"post-index-change", "reference-transaction", "pre-commit"}) {
    const fs::path file = project / ".git/hooks" / hook;
    WriteFile(file, "#!/bin/sh\ntouch '" + (project / "ran").string() + "'\n");
    fs::permissions(file, fs::perms::owner_all);
  }
  Run({"config", "core.fsmonitor", "touch '" + (project / "ran").string() + "'; false"});
  Take();
  EXPECT_FALSE(fs::exists(project / "ran"));
}

TEST(GitLinks, AreFoundOnEitherSide) {
  const std::string ids = " 1111 2222 ";
  std::string raw;
  for (const char* line : {":100644 160000", ":160000 000000", ":100644 100755"}) {
    raw += line + ids + "M" + '\0' + "name" + line[1] + line[8] + '\0';
  }
  EXPECT_THAT(GitLinks(ParseRaw(raw)), ElementsAre("name11", "name10"));
}

}  // namespace
}  // namespace copy
