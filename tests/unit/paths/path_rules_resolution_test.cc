// How the guest resolves a path, and what is refused for it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "unit/paths/path_rules_fixture.h"

namespace paths {
namespace {

namespace fs = std::filesystem;
using guest::Operation;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(PathRulesTest, LinksThatLeadOutAreRefused) {
  fs::create_directory(top / "work_sensitive");
  struct Row {
    std::string target;  ///< of the link /host/work/link
    std::string path;
    Access access;
    std::string refusal;
  };
  const std::string outside = Guest("outside");
  for (const auto& [target, path, access, refusal] : {
           Row{outside + "/secret", "link", Access::kRead, "resolves to " + outside + "/secret"},
           Row{outside, "link/secret", Access::kRead, outside},
           Row{outside, "link", Access::kList, outside},
           Row{outside, "link/new", Access::kWrite, outside + "/new"},
           Row{outside, "link/a/b/c", Access::kWrite, outside + "/a/b/c"},
           Row{outside, "link/a/b/c", Access::kRead, outside + "/a/b/c"},
           Row{Guest("work_sensitive"), "link", Access::kRead, "outside the directories"},
           Row{outside + "/pwned", "link", Access::kWrite, outside + "/pwned"},
           Row{outside + "/a/b/pwned", "link", Access::kWrite, outside + "/a/b/pwned"},
           Row{outside + "/a/b/pwned", "link/y", Access::kWrite, outside + "/a/b/pwned/y"},
           Row{"/proc/self/root", "link" + outside + "/secret", Access::kRead, "outside"},
           Row{"missing/../file", "link", Access::kWrite, "directory that is missing"},
           Row{"link", "link", Access::kRead, "loop of symbolic links"},
           Row{"link", "link/b/c", Access::kWrite, "loop of symbolic links"},
           Row{"link/x", "link", Access::kRead, "loop of symbolic links"},
           Row{Guest("library/book"), "link", Access::kWrite, "is read-only"},
       }) {
    fs::create_symlink(target, top / "work/link");
    EXPECT_THAT(Refusal("/host/work/" + path, access),
                AllOf(HasSubstr("/host/work/" + path), HasSubstr(refusal)))
        << target;
    fs::remove(top / "work/link");
  }
}

TEST_F(PathRulesTest, LinksWithinTheRootsAreFollowed) {
  fs::create_symlink("file", top / "work/l0");
  for (int i = 1; i <= 20; ++i) {
    fs::create_symlink("l" + std::to_string(i - 1), top / "work" / ("l" + std::to_string(i)));
  }
  EXPECT_EQ(Resolve("/host/work/l20").guest, Guest("work/file"));
  fs::create_symlink(top / "library/book", top / "work/book");
  EXPECT_EQ(Resolve("/host/work/book").guest, Guest("library/book"));

  fs::create_directory_symlink(top / "work", top / "outside/back");
  fs::create_directory_symlink(top / "outside/back", top / "work/out");
  EXPECT_EQ(Resolve("/host/work/out/file").guest, Guest("work/file"));

  fs::create_symlink("deep/er/new", top / "work/x");
  const ResolvedPath dangling = Resolve("/host/work/x", Access::kWrite);
  EXPECT_EQ(dangling.guest, Guest("work/deep/er/new"));
  EXPECT_EQ(dangling.existing_parent, Guest("work"));
  EXPECT_FALSE(dangling.attributes);
}

TEST_F(PathRulesTest, ChainOfDanglingLinksIsFollowedToItsEnd) {
  fs::create_symlink("b", top / "work/a");
  fs::create_symlink(top / "outside/missing/c", top / "work/b");
  EXPECT_THAT(Refusal("/host/work/a", Access::kWrite), HasSubstr("outside/missing/c"));
}

TEST_F(PathRulesTest, FileUsedAsADirectoryIsRefused) {
  EXPECT_THAT(Refusal("/host/work/file/x"), HasSubstr("not a directory"));
  EXPECT_THAT(Refusal("/host/work/file/x/y", Access::kWrite), HasSubstr("not a directory"));
}

TEST_F(PathRulesTest, MissingFileHasItsDeepestExistingParent) {
  const ResolvedPath near = Resolve("/host/work/new", Access::kWrite);
  EXPECT_FALSE(near.attributes);
  EXPECT_EQ(near.existing_parent, Guest("work"));
  fs::create_directory(top / "work/a");
  const ResolvedPath far = Resolve("/host/work/a/b/c/d", Access::kWrite);
  EXPECT_EQ(far.guest, Guest("work/a/b/c/d"));
  EXPECT_EQ(far.existing_parent, Guest("work/a"));
}

// Changes while a path is resolved.

TEST_F(PathRulesTest, LinkSwappedInAfterTheGuestResolvedThePathIsFollowedAndRefused) {
  guest.set_hook([&](Operation operation, const std::string& path) {
    if (operation != Operation::kLStat || path != Guest("work/file")) return;
    guest.set_hook({});
    fs::remove(top / "work/file");
    fs::create_symlink(top / "outside/secret", top / "work/file");
  });
  EXPECT_THAT(Refusal("/host/work/file"), HasSubstr("outside/secret"));
}

TEST_F(PathRulesTest, DirectoryThatAppearsMeanwhileIsFound) {
  fs::create_directory_symlink("new/", top / "work/x");
  guest.set_hook([&](Operation operation, const std::string& path) {
    if (operation == Operation::kLStat && path == Guest("work/new")) fs::create_directory(path);
  });
  const ResolvedPath resolved = Resolve("/host/work/x");
  EXPECT_EQ(resolved.guest, Guest("work/new"));
  ASSERT_TRUE(resolved.attributes);
  EXPECT_EQ(resolved.attributes->type, guest::FileType::kDirectory);
}

TEST_F(PathRulesTest, DirectoryThatWasOpenedWhileItsPathLedElsewhereIsNotListed) {
  fs::create_directory(top / "outside/d");
  guest.set_hook([&](Operation operation, const std::string&) {
    if (operation == Operation::kOpenDirectory)
      fs::create_directory_symlink("../outside", top / "work/a");
    if (operation != Operation::kLStat || !fs::is_symlink(top / "work/a")) return;
    fs::remove(top / "work/a");
    fs::create_directories(top / "work/a/d");
  });
  const ResolvedPath resolved = Resolve("/host/work/a/d", Access::kList);
  EXPECT_EQ(resolved.guest, Guest("work/a/d"));
  EXPECT_EQ(resolved.directory, nullptr);
}

// Mounts.

TEST_F(PathRulesTest, MountPointThatIsALinkCountsResolved) {
  options.roots.push_back({.host = "/host/volume", .guest = Guest("mounted"), .writable = true});
  EXPECT_TRUE(Resolve("/host/work/file").attributes);  // the mount appears after this call
  fs::create_directory(top / "volumes");
  WriteFile(top / "volumes/file", "");
  fs::create_directory_symlink(top / "volumes", top / "mounted");
  EXPECT_EQ(Resolve("/host/volume/file").guest, Guest("volumes/file"));
  EXPECT_EQ(rules().ToHost(Guest("volumes/file")), "/host/volume/file");
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

TEST_F(PathRulesTest, NothingIsCreatedWhereTheMountPointIsMissing) {
  options.roots.push_back({.host = "/host/gone", .guest = Guest("no/gone"), .writable = true});
  EXPECT_THAT(Refusal("/host/gone/file", Access::kWrite), HasSubstr("missing in the guest"));
  EXPECT_FALSE(Resolve("/host/gone/file").attributes);
}

TEST_F(PathRulesTest, InnermostMountDecidesWhetherAPathIsWritable) {
  for (const char* name : {"work/vendor", "library/drafts"}) fs::create_directory(top / name);
  fs::create_directory_symlink("vendor", top / "work/alias");
  options.roots.push_back({.host = "/host/work/vendor", .guest = Guest("work/vendor")});
  options.roots.push_back(
      {.host = Guest("library/drafts"), .guest = Guest("library/drafts"), .writable = true});
  for (const char* path : {"/host/work/vendor", "/host/work/vendor/new", "/host/work/alias/new"}) {
    EXPECT_THAT(Refusal(path, Access::kWrite), HasSubstr("is read-only")) << path;
  }
  EXPECT_EQ(Resolve("/host/work/new", Access::kWrite).guest, Guest("work/new"));
  EXPECT_EQ(Resolve(Guest("library/drafts/new"), Access::kWrite).guest,
            Guest("library/drafts/new"));
}

TEST_F(PathRulesTest, OfTwoNamesOfOneDirectoryTheReadOnlyOneCounts) {
  fs::create_directory_symlink(top / "library", top / "shelf");
  options.roots.push_back({.host = "/shelf", .guest = Guest("shelf"), .writable = true});
  EXPECT_THAT(Refusal("/shelf/book", Access::kWrite), HasSubstr("read-only"));
  std::swap(options.roots[1], options.roots[2]);
  const PathRules swapped(options);
  EXPECT_THROW((void)swapped.Resolve("/shelf/book", Access::kWrite, guest, {}), support::CallError);
}

// Roots that are not whole mounts.

class NarrowedRootTest : public PathRulesTest {
 protected:
  void Narrow(const std::string& name) {
    options.mounts = options.roots;
    options.roots = {{.host = "/host/work/" + name,
                      .guest = Guest("work/" + name),
                      .writable = true,
                      .narrowed_from = Guest("work")}};
  }
  std::string CheckError() {
    try {
      rules().CheckRoots(guest, {});
      return "";
    } catch (const support::CallError& error) {
      return error.what();
    }
  }
};

TEST_F(NarrowedRootTest, CountsAsItWasResolvedFirstAlsoForANewConnection) {
  Narrow("project");
  fs::create_directory(top / "work/project");
  EXPECT_EQ(CheckError(), "");
  fs::rename(top / "work/project", top / "work/old");
  fs::create_directory_symlink(top / "outside", top / "work/project");
  const PathRules reconnected(options);  // shares its pins
  for (const PathRules* either : {&std::as_const(rules()), &reconnected}) {
    EXPECT_NO_THROW(either->CheckRoots(guest, {}));
    EXPECT_THROW((void)either->Resolve("/host/work/project/secret", Access::kRead, guest, {}),
                 support::CallError);
    EXPECT_THROW((void)either->Resolve("/host/work/project/new", Access::kWrite, guest, {}),
                 support::CallError);
  }
}

TEST_F(NarrowedRootTest, ThatIsMissingIsRefused) {
  Narrow("missing/project");
  EXPECT_THAT(CheckError(), HasSubstr("create that directory"));
}

TEST_F(NarrowedRootTest, ThatIsALinkOutOfItsMountIsRefused) {
  Narrow("project");
  fs::create_directory_symlink(top / "outside", top / "work/project");
  EXPECT_THAT(CheckError(), AllOf(HasSubstr("resolves to " + Guest("outside")),
                                  HasSubstr("outside the mount " + Guest("work"))));
}

TEST_F(NarrowedRootTest, OverWhichAnotherMountLiesIsRefused) {
  options.roots.push_back({.host = "/srv/copy", .guest = Guest("work/sub"), .writable = true});
  fs::create_directories(top / "work/sub/project");
  Narrow("sub/project");
  EXPECT_THAT(CheckError(), AllOf(HasSubstr("--root /host/work/sub/project"),
                                  ::testing::EndsWith("give /srv/copy/project")));
}

TEST_F(NarrowedRootTest, ThatIsALinkHasTheRightsOfTheMountItResolvesTo) {
  fs::create_directories(top / "work/vendor");
  fs::create_directory_symlink(top / "work/vendor", top / "work/link");
  options.roots.push_back({.host = "/host/work/vendor", .guest = Guest("work/vendor")});
  Narrow("link");
  EXPECT_TRUE(Resolve("/host/work/link").attributes);
  EXPECT_THAT(Refusal("/host/work/link/new", Access::kWrite), HasSubstr("read-only"));
}

TEST_F(PathRulesTest, AllowedPathThatAppearsLaterIsPinnedThen) {
  const std::string later = Guest("no/later");
  options.roots.push_back({.host = later, .guest = later, .writable = true, .is_guests_own = true});
  rules().CheckRoots(guest, {});
  fs::create_directories(later);
  EXPECT_TRUE(Resolve(later).attributes);
  fs::remove(later);
  fs::create_directory_symlink(top / "outside", later);
  EXPECT_THAT(Refusal(later + "/secret"), HasSubstr("outside the directories"));
}

// Errors of the guest.

TEST_F(PathRulesTest, ErrorOfTheGuestNamesTheHostsPath) {
  guest.set_hook([](Operation operation, const std::string& path) {
    if (operation == Operation::kRealPath) {
      throw guest::FileError(guest::FileErrorCode::kFailure, "realpath", path, "");
    }
  });
  EXPECT_THAT(Refusal("/host/work/file"),
              AllOf(HasSubstr("resolve /host/work/file: failure"), Not(HasSubstr(Guest("work")))));
}

}  // namespace
}  // namespace paths
