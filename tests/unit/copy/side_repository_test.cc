#include <chrono>
#include <string>

#include "support/wake_pipe.h"
#include "unit/copy/copy_fixture.h"

namespace copy {
namespace {

using SideRepositoryTest = CopyTest;

TEST_F(SideRepositoryTest, BorrowsObjectsAndKeepsRefs) {
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
  EXPECT_TRUE(side.facts().IsTaken(head));
  EXPECT_EQ(side.git().Run({"for-each-ref", "--format=%(objectname)"}).output,
            head + "\n" + head + "\n");
}

TEST(FileLock, IsSharedOrExclusive) {
  const testing_support::TemporaryDirectory directory;
  const fs::path file = directory.path() / "lock";
  const auto take = [&](LockKind kind) {
    return LockFile(file, kind, std::chrono::milliseconds(0));
  };
  {
    const auto first = take(LockKind::kShared);
    EXPECT_TRUE(take(LockKind::kShared));
    EXPECT_FALSE(take(LockKind::kExclusive));
  }
  EXPECT_TRUE(take(LockKind::kExclusive));
}

TEST(FileLock, IsHeldByChildrenOfGit) {
  const testing_support::TemporaryDirectory directory;
  const fs::path file = directory.path() / "lock";
  const auto take = [&] {
    return LockFile(file, LockKind::kExclusive, std::chrono::milliseconds(0));
  };
  auto lock = take();
  support::Pipe input;
  support::Child child = Git::Users(directory.path(), lock->get())
                             .Start({"hash-object", "--stdin"}, {.input = input.read_end.get()});
  lock.reset();
  EXPECT_FALSE(take());
  input.write_end.Close();
  EXPECT_EQ(child.Finish(), 0);
  EXPECT_TRUE(take());
}

}  // namespace
}  // namespace copy
