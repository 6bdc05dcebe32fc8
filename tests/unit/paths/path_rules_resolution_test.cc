// What the guest resolves a path to.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "unit/paths/path_rules_fixture.h"

namespace paths {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(PathRulesTest, LinkInsideTheRootIsFollowed) {
  fs::create_symlink("file", top / "work/link");
  EXPECT_EQ(Resolve("/host/work/link").guest, Guest("work/file"));
}

TEST_F(PathRulesTest, LinkToAFileOutsideIsRefused) {
  fs::create_symlink(top / "outside/secret", top / "work/link");
  EXPECT_THAT(Refusal("/host/work/link"),
              AllOf(HasSubstr("/host/work/link leads to " + Guest("outside/secret")),
                    HasSubstr("/host/work (writable)")));
}

TEST_F(PathRulesTest, LinkToADirectoryOutsideIsRefused) {
  fs::create_directory_symlink(top / "outside", top / "work/link");
  EXPECT_THAT(Refusal("/host/work/link/secret"), HasSubstr("outside"));
  EXPECT_THAT(Refusal("/host/work/link/new", Access::kWrite), HasSubstr("outside"));
}

TEST_F(PathRulesTest, MissingFilesBelowALinkedParentOutsideAreRefused) {
  fs::create_directory_symlink(top / "outside", top / "work/link");
  EXPECT_THAT(Refusal("/host/work/link/a/b/c", Access::kWrite), HasSubstr("outside"));
  EXPECT_THAT(Refusal("/host/work/link/a/b/c"), HasSubstr("outside"));
}

TEST_F(PathRulesTest, LinkThatOnlySharesTheRootsBeginningIsRefused) {
  fs::create_directory(top / "work_sensitive");
  fs::create_directory_symlink(top / "work_sensitive", top / "work/link");
  EXPECT_THAT(Refusal("/host/work/link"), HasSubstr("outside"));
}

TEST_F(PathRulesTest, DanglingLinkOutsideIsRefusedForWriting) {
  fs::create_symlink(top / "outside/pwned", top / "work/x");
  EXPECT_THAT(Refusal("/host/work/x", Access::kWrite), HasSubstr("outside/pwned"));
}

TEST_F(PathRulesTest, DanglingLinkWithAMissingParentOutsideIsRefusedForWriting) {
  fs::create_symlink(top / "outside/a/b/pwned", top / "work/x");
  EXPECT_THAT(Refusal("/host/work/x", Access::kWrite), HasSubstr("outside/a/b/pwned"));
  EXPECT_THAT(Refusal("/host/work/x/y", Access::kWrite), HasSubstr("outside/a/b/pwned/y"));
}

TEST_F(PathRulesTest, DanglingLinkInsideMayBeWritten) {
  fs::create_symlink("deep/er/new", top / "work/x");
  const ResolvedPath resolved = Resolve("/host/work/x", Access::kWrite);
  EXPECT_EQ(resolved.guest, Guest("work/deep/er/new"));
  EXPECT_EQ(resolved.existing_parent, Guest("work"));
  EXPECT_FALSE(resolved.attributes);
}

TEST_F(PathRulesTest, DirectoryThatAppearsWhileALinkWithASlashAtItsEndIsFollowedIsFound) {
  fs::create_directory_symlink("new/", top / "work/x");
  guest.set_hook([&](testing_support::Operation operation, const std::string& path) {
    if (operation == testing_support::Operation::kLStat && path == Guest("work/new")) {
      fs::create_directory(path);
    }
  });
  const ResolvedPath resolved = Resolve("/host/work/x");
  EXPECT_EQ(resolved.guest, Guest("work/new"));
  ASSERT_TRUE(resolved.attributes);
  EXPECT_EQ(resolved.attributes->type, guest::FileType::kDirectory);
}

TEST_F(PathRulesTest, DirectoryThatTakesALinksPlaceWhileItIsFollowedIsFound) {
  fs::create_directory_symlink("missing/directory", top / "work/x");
  guest.set_hook([&](testing_support::Operation operation, const std::string& path) {
    if (operation != testing_support::Operation::kLStat || path != Guest("work/x")) return;
    guest.set_hook({});
    fs::remove(path);
    fs::create_directory(path);
    WriteFile(path + "/file", "text");
  });
  const ResolvedPath resolved = Resolve("/host/work/x/file");
  EXPECT_EQ(resolved.guest, Guest("work/x/file"));
  EXPECT_TRUE(resolved.attributes);
}

TEST_F(PathRulesTest, ChainOfLinksIsFollowedToItsEnd) {
  fs::create_symlink("file", top / "work/l0");
  for (int i = 1; i <= 20; ++i) {
    fs::create_symlink("l" + std::to_string(i - 1), top / "work" / ("l" + std::to_string(i)));
  }
  EXPECT_EQ(Resolve("/host/work/l20").guest, Guest("work/file"));
  fs::remove(top / "work/l0");
  fs::create_symlink(top / "outside/secret", top / "work/l0");
  EXPECT_THAT(Refusal("/host/work/l20"), HasSubstr("outside"));
}

TEST_F(PathRulesTest, ChainOfDanglingLinksIsFollowedToItsEnd) {
  fs::create_symlink("b", top / "work/a");
  fs::create_symlink(top / "outside/missing/c", top / "work/b");
  EXPECT_THAT(Refusal("/host/work/a", Access::kWrite), HasSubstr("outside/missing/c"));
}

TEST_F(PathRulesTest, LoopOfLinksIsAnErrorThatSaysSo) {
  fs::create_symlink("b", top / "work/a");
  fs::create_symlink("a", top / "work/b");
  EXPECT_THAT(Refusal("/host/work/a"), HasSubstr("loop of symbolic links"));
  EXPECT_THAT(Refusal("/host/work/a/b/c", Access::kWrite), HasSubstr("loop of symbolic links"));
}

TEST_F(PathRulesTest, LoopThatGrowsWithEachTurnEnds) {
  fs::create_symlink("a/x", top / "work/a");
  EXPECT_THAT(Refusal("/host/work/a"), HasSubstr("loop of symbolic links"));
}

TEST_F(PathRulesTest, LinkThroughAMissingDirectoryAndBackIsRefused) {
  fs::create_symlink("missing/../file", top / "work/x");
  EXPECT_THAT(Refusal("/host/work/x", Access::kWrite), HasSubstr("does not exist"));
}

TEST_F(PathRulesTest, FileUsedAsADirectoryIsRefused) {
  EXPECT_THAT(Refusal("/host/work/file/x"), HasSubstr("not a directory"));
  EXPECT_THAT(Refusal("/host/work/file/x/y", Access::kWrite), HasSubstr("not a directory"));
}

TEST_F(PathRulesTest, MissingFileIsNoErrorAndKnowsItsDeepestExistingParent) {
  const ResolvedPath near = Resolve("/host/work/new", Access::kWrite);
  EXPECT_FALSE(near.attributes);
  EXPECT_EQ(near.existing_parent, Guest("work"));
  fs::create_directory(top / "work/a");
  const ResolvedPath far = Resolve("/host/work/a/b/c/d", Access::kWrite);
  EXPECT_EQ(far.guest, Guest("work/a/b/c/d"));
  EXPECT_EQ(far.existing_parent, Guest("work/a"));
}

TEST_F(PathRulesTest, MountPointThatIsALinkCountsResolved) {
  fs::create_directory(top / "volumes");
  WriteFile(top / "volumes/file", "");
  fs::create_directory_symlink(top / "volumes", top / "mounted");
  options.roots.push_back({.host = "/host/volume", .guest = Guest("mounted"), .writable = true});
  EXPECT_EQ(Resolve("/host/volume/file").guest, Guest("volumes/file"));
  EXPECT_EQ(rules().ToHost(Guest("volumes/file")), "/host/volume/file");
  EXPECT_EQ(rules().ToHost(Guest("mounted/file")), "/host/volume/file");
}

TEST_F(PathRulesTest, MountThatAppearsAsALinkAfterTheFirstCallIsSeen) {
  options.roots.push_back({.host = "/host/volume", .guest = Guest("mounted"), .writable = true});
  EXPECT_TRUE(Resolve("/host/work/file").attributes);
  fs::create_directory(top / "volumes");
  fs::create_directory_symlink(top / "volumes", top / "mounted");
  EXPECT_EQ(Resolve("/host/volume").guest, Guest("volumes"));
}

TEST_F(PathRulesTest, NarrowedRootThatBecomesALinkDoesNotMove) {
  options.mounts = options.roots;
  fs::create_directory(top / "work/project");
  options.roots = {
      {.host = "/host/work/project", .guest = Guest("work/project"), .writable = true}};
  EXPECT_TRUE(Resolve("/host/work/project").attributes);
  fs::rename(top / "work/project", top / "work/old");
  fs::create_directory_symlink(top / "outside", top / "work/project");
  EXPECT_THAT(Refusal("/host/work/project/secret"), HasSubstr("outside the directories"));
  EXPECT_THAT(Refusal("/host/work/project/new", Access::kWrite),
              HasSubstr("outside the directories"));
}

TEST_F(PathRulesTest, NarrowedRootThatAppearsAfterTheFirstCallIsSeen) {
  options.mounts = options.roots;
  options.roots = {{.host = "/host/work/a/b", .guest = Guest("work/a/b"), .writable = true}};
  EXPECT_FALSE(Resolve("/host/work/a/b/file").attributes);
  fs::create_directories(top / "work/real/b");
  fs::create_directory_symlink(top / "work/real", top / "work/a");
  EXPECT_EQ(Resolve("/host/work/a/b").guest, Guest("work/real/b"));
}

TEST_F(PathRulesTest, RootThatIsFoundCountsAsThePinSays) {
  fs::create_directory(top / "work/project");
  fs::create_directory_symlink(top / "outside", top / "project");
  options.mounts = options.roots;
  options.roots = {{.host = "/host/project", .guest = Guest("project"), .writable = true}};
  options.pin = [&](const Root& root, const std::string& resolved) {
    EXPECT_EQ(root.guest, Guest("project"));
    EXPECT_EQ(resolved, Guest("outside"));
    return Guest("work/project");  // what it led to once
  };
  EXPECT_THAT(Refusal("/host/project/secret"), HasSubstr("outside the directories"));
}

TEST_F(PathRulesTest, NarrowedRootThatIsALinkHasTheRightsOfTheMountItLeadsTo) {
  fs::create_directories(top / "work/vendor");
  fs::create_directory_symlink(top / "work/vendor", top / "work/link");
  options.roots.push_back(
      {.host = "/host/work/vendor", .guest = Guest("work/vendor"), .writable = false});
  options.mounts = options.roots;
  options.roots = {{.host = "/host/work/link", .guest = Guest("work/link"), .writable = true}};
  EXPECT_TRUE(Resolve("/host/work/link").attributes);
  EXPECT_THAT(Refusal("/host/work/link/new", Access::kWrite), HasSubstr("read-only"));
}

TEST_F(PathRulesTest, NothingIsWrittenWhereTheMountPointDoesNotExist) {
  options.roots.push_back({.host = "/host/gone", .guest = Guest("no/gone"), .writable = true});
  EXPECT_THAT(Refusal("/host/gone/file", Access::kWrite), HasSubstr("not there in the guest"));
  EXPECT_FALSE(Resolve("/host/gone/file").attributes);
}

TEST_F(PathRulesTest, LinkIntoAnotherRootIsAllowed) {
  fs::create_symlink(top / "library/book", top / "work/book");
  EXPECT_EQ(Resolve("/host/work/book").guest, Guest("library/book"));
}

TEST_F(PathRulesTest, LinkIntoAReadOnlyRootMayNotBeWritten) {
  fs::create_symlink(top / "library/book", top / "work/book");
  EXPECT_THAT(Refusal("/host/work/book", Access::kWrite), HasSubstr("read-only"));
}

TEST_F(PathRulesTest, ReadOnlyMountInsideAWritableOneIsReadOnly) {
  fs::create_directory(top / "work/vendor");
  options.roots.push_back(
      {.host = "/host/work/vendor", .guest = Guest("work/vendor"), .writable = false});
  EXPECT_THAT(Refusal("/host/work/vendor/new", Access::kWrite), HasSubstr("read-only"));
  EXPECT_THAT(Refusal("/host/work/vendor", Access::kWrite), HasSubstr("read-only"));
  EXPECT_EQ(Resolve("/host/work/new", Access::kWrite).guest, Guest("work/new"));
}

TEST_F(PathRulesTest, ReadOnlyMountInsideAWritableOneIsReadOnlyThroughALinkToo) {
  fs::create_directory(top / "work/vendor");
  fs::create_directory_symlink("vendor", top / "work/alias");
  options.roots.push_back({.host = "/else", .guest = Guest("work/vendor"), .writable = false});
  EXPECT_THAT(Refusal("/host/work/alias/new", Access::kWrite), HasSubstr("read-only"));
}

TEST_F(PathRulesTest, WritableMountInsideAReadOnlyOneIsWritable) {
  fs::create_directory(top / "library/drafts");
  options.roots.push_back(
      {.host = Guest("library/drafts"), .guest = Guest("library/drafts"), .writable = true});
  EXPECT_EQ(Resolve(Guest("library/drafts/new"), Access::kWrite).guest,
            Guest("library/drafts/new"));
}

TEST_F(PathRulesTest, OfTwoNamesOfOneDirectoryTheStricterCounts) {
  fs::create_directory_symlink(top / "library", top / "shelf");
  options.roots.push_back({.host = "/shelf", .guest = Guest("shelf"), .writable = true});
  EXPECT_THAT(Refusal("/shelf/book", Access::kWrite), HasSubstr("read-only"));
  std::swap(options.roots[1], options.roots[2]);
  const PathRules swapped(options);
  EXPECT_THROW((void)swapped.Resolve("/shelf/book", Access::kWrite, guest, {}), support::CallError);
}

TEST_F(PathRulesTest, PathsThroughProcAreRefused) {
  for (const char* path :
       {"/proc/self/root/etc/passwd", "/proc/self/cwd", "/dev/fd/0", "/dev/zero"}) {
    EXPECT_THAT(Refusal(path), HasSubstr("outside")) << path;
  }
  fs::create_directory_symlink("/proc/self/root", top / "work/proc");
  EXPECT_THAT(Refusal("/host/work/proc" + Guest("outside/secret")), HasSubstr("outside"));
}

TEST_F(PathRulesTest, LinkSwappedInAfterTheGuestResolvedThePathIsFollowedAndRefused) {
  guest.set_hook([&](testing_support::Operation operation, const std::string& path) {
    if (operation != testing_support::Operation::kLStat || path != Guest("work/file")) return;
    guest.set_hook({});
    fs::remove(top / "work/file");
    fs::create_symlink(top / "outside/secret", top / "work/file");
  });
  EXPECT_THAT(Refusal("/host/work/file"), HasSubstr("outside/secret"));
}

TEST_F(PathRulesTest, MountThatWasFoundThroughALinkForAWhileIsNoWayOut) {
  fs::create_directories(top / "deep/mount");
  fs::create_directory(top / "outside/mount");
  fs::create_symlink(top / "outside/mount/new", top / "work/x");
  options.roots.push_back({.host = "/host/mount", .guest = Guest("deep/mount"), .writable = true});
  fs::rename(top / "deep", top / "away");
  fs::create_directory_symlink(top / "outside", top / "deep");
  EXPECT_EQ(Resolve("/host/mount").guest, Guest("outside/mount"));
  fs::remove(top / "deep");
  fs::rename(top / "away", top / "deep");
  EXPECT_THAT(Refusal("/host/work/x", Access::kWrite), HasSubstr("outside/mount/new"));
  EXPECT_EQ(Resolve("/host/mount").guest, Guest("deep/mount"));
}

TEST_F(PathRulesTest, GuestThatKnowsNoDirectoryAtAllIsAnError) {
  guest.set_hook([](testing_support::Operation operation, const std::string& path) {
    if (operation == testing_support::Operation::kRealPath) {
      throw guest::FileError(guest::FileErrorCode::kNotFound, "realpath", path, "");
    }
  });
  EXPECT_THAT(Refusal("/host/work/file"),
              AllOf(HasSubstr("resolve /host/work/file: failure"), Not(HasSubstr(Guest("work")))));
}

TEST_F(PathRulesTest, RefusalOfTheGuestNamesTheHostsPath) {
  guest.set_hook([](testing_support::Operation, const std::string& path) {
    throw guest::FileError(guest::FileErrorCode::kPermissionDenied, "realpath", path, "");
  });
  EXPECT_THAT(Refusal("/host/work/file"),
              AllOf(HasSubstr("/host/work/file"), Not(HasSubstr(Guest("work")))));
}

}  // namespace
}  // namespace paths
