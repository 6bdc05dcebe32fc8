#include "paths/roots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/errors.h"
#include "testing/temporary_directory.h"

namespace paths {
namespace {

Root MakeRoot(const std::string& host, const std::string& guest, bool writable) {
  Root root;
  root.host = host;
  root.guest = guest;
  root.writable = writable;
  return root;
}

TEST(ParseAllowedPath, ReadsADirectoryAndItsMark) {
  EXPECT_EQ(ParseAllowedPath("/tmp").directory, "/tmp");
  EXPECT_FALSE(ParseAllowedPath("/tmp").writable);
  EXPECT_EQ(ParseAllowedPath("/tmp/:w").directory, "/tmp");
  EXPECT_TRUE(ParseAllowedPath("/tmp/:w").writable);
  EXPECT_EQ(ParseAllowedPath("/").directory, "/");
  EXPECT_EQ(ParseAllowedPath("/a/../b//c/").directory, "/b/c");
}

TEST(ParseAllowedPath, RefusesWhatIsNotAbsolute) {
  for (const char* value : {"", ":w", "tmp", "./tmp:w", "~/x"}) {
    EXPECT_THROW(ParseAllowedPath(value), support::CallError) << value;
  }
}

TEST(ParseNarrowedRoot, IsTakenAgainstTheWorkingDirectory) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(ParseNarrowedRoot(".").directory, here);
  EXPECT_EQ(ParseNarrowedRoot("a/../b/").directory, here + "/b");
  EXPECT_EQ(ParseNarrowedRoot("/x//y/").directory, "/x/y");
  EXPECT_THROW(ParseNarrowedRoot(""), support::CallError);
}

TEST(RootsOfMounts, KnowTheLocationWithItsLinksResolved) {
  const testing_support::TemporaryDirectory directory;
  const std::filesystem::path real = directory.path() / "real";
  const std::filesystem::path link = directory.path() / "link";
  std::filesystem::create_directory(real);
  std::filesystem::create_directory_symlink(real, link);
  lima::Mount mount;
  mount.location = link.string();
  mount.mount_point = "/mnt";
  mount.unclean_mount_point = "/mnt/";
  mount.writable = true;
  const std::vector<Root> roots = RootsOfMounts({mount});
  ASSERT_EQ(roots.size(), 1U);
  EXPECT_EQ(roots[0].host, link.string());
  EXPECT_EQ(roots[0].guest, "/mnt");
  EXPECT_EQ(roots[0].written_guest, "/mnt/");
  EXPECT_TRUE(roots[0].writable);
  EXPECT_EQ(roots[0].host_aliases, std::vector<std::string>{real.string()});
}

TEST(RootsOfMounts, MissingLocationHasNoAlias) {
  lima::Mount mount;
  mount.location = "/nowhere/at/all";
  mount.mount_point = "/mnt";
  EXPECT_TRUE(RootsOfMounts({mount}).at(0).host_aliases.empty());
}

TEST(Narrow, WithoutDirectoriesEveryRootStays) {
  const auto all = Narrow({MakeRoot("/a", "/x", true), MakeRoot("/b", "/y", false)}, {});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].root.host, "/b");
  EXPECT_EQ(all[1].boundary, "/y");
}

TEST(SelectRoots, AllowedPathsComeOnTopOfTheMounts) {
  lima::Mount mount;
  mount.location = "/a";
  mount.mount_point = "/x";
  const auto selected = SelectRoots({mount}, {{}, {{"/tmp", true}}});
  ASSERT_EQ(selected.size(), 2U);
  EXPECT_EQ(selected[0].root.guest, "/x");
  EXPECT_EQ(selected[1].root.host, "/tmp");
  EXPECT_EQ(selected[1].root.guest, "/tmp");
  EXPECT_TRUE(selected[1].root.writable);
  EXPECT_FALSE(selected[0].root.is_guests_own);
  EXPECT_TRUE(selected[1].root.is_guests_own);
}

TEST(Narrow, KeepsTheRightsAndTheGuestPathOfTheMount) {
  const auto narrowed = Narrow({MakeRoot("/home/u", "/mnt/u", true)}, {{"/home/u/project"}});
  ASSERT_EQ(narrowed.size(), 1U);
  EXPECT_EQ(narrowed[0].root.host, "/home/u/project");
  EXPECT_EQ(narrowed[0].root.guest, "/mnt/u/project");
  EXPECT_TRUE(narrowed[0].root.writable);
  EXPECT_EQ(narrowed[0].boundary, "/mnt/u");
}

TEST(Narrow, TheMountItselfAndTheRootDirectory) {
  EXPECT_EQ(Narrow({MakeRoot("/home/u", "/home/u", false)}, {{"/home/u"}}).at(0).root.guest,
            "/home/u");
  EXPECT_EQ(Narrow({MakeRoot("/", "/", false)}, {{"/srv"}}).at(0).root.guest, "/srv");
  EXPECT_EQ(Narrow({MakeRoot("/", "/host", false)}, {{"/"}}).at(0).root.guest, "/host");
}

TEST(Narrow, LongestMountWins) {
  const auto narrowed = Narrow({MakeRoot("/home", "/home", true), MakeRoot("/home/u", "/u", false)},
                               {{"/home/u/project"}});
  ASSERT_EQ(narrowed.size(), 1U);
  EXPECT_EQ(narrowed[0].root.guest, "/u/project");
  EXPECT_FALSE(narrowed[0].root.writable);
}

TEST(Narrow, KeepsMountsNestedInside) {
  const auto narrowed =
      Narrow({MakeRoot("/home/u", "/home/u", true), MakeRoot("/home/u/p/vendor", "/v", false),
              MakeRoot("/opt/keys", "/home/u/p/keys", false), MakeRoot("/srv", "/srv", true)},
             {{"/home/u/p"}});
  ASSERT_EQ(narrowed.size(), 3U);
  EXPECT_EQ(narrowed[1].root.host, "/home/u/p/vendor");
  EXPECT_EQ(narrowed[2].root.host, "/opt/keys");
}

TEST(RequireUncovered, RefusesADirectoryThatAnotherMountHidesInTheGuest) {
  const std::vector<Root> mounts = {MakeRoot("/home/u", "/mnt/u", true),
                                    MakeRoot("/srv/copy", "/mnt/u/work", true)};
  for (const char* hidden : {"/home/u/work", "/home/u/work/project"}) {
    const auto narrowed = Narrow(mounts, {{hidden}});
    EXPECT_THROW(RequireUncovered(narrowed.at(0), mounts), support::CallError) << hidden;
  }
  for (const char* seen : {"/home/u", "/home/u/works", "/home/u/other", "/srv/copy/project"}) {
    for (const BoundedRoot& bounded : Narrow(mounts, {{seen}})) {
      EXPECT_NO_THROW(RequireUncovered(bounded, mounts)) << seen;
    }
  }
}

TEST(Narrow, MatchesWholeComponentsOnly) {
  EXPECT_THROW(Narrow({MakeRoot("/home/u", "/home/u", true)}, {{"/home/user"}}),
               support::CallError);
}

TEST(Narrow, TextOutsideNamesTheDirectoryAndTheMounts) {
  try {
    Narrow({MakeRoot("/a", "/a", true), MakeRoot("/b", "/b", false)}, {{"/c"}});
    FAIL() << "expected a CallError";
  } catch (const support::CallError& error) {
    EXPECT_STREQ(error.what(),
                 "--root /c lies under no mount; the mounts are: /a (writable) /b (read-only)");
  }
}

TEST(Narrow, DirectoryWhoseLinksLeadIntoAMountIsKeptByItsName) {
  const auto narrowed =
      Narrow({MakeRoot("/data", "/mnt/data", true), MakeRoot("/data/p/vendor", "/v", false)},
             {{"/home/u/project", "/data/p"}});
  ASSERT_EQ(narrowed.size(), 2U);
  EXPECT_EQ(narrowed[0].root.host, "/home/u/project");
  EXPECT_THAT(narrowed[0].root.host_aliases, ::testing::ElementsAre("/data/p"));
  EXPECT_EQ(narrowed[0].root.guest, "/mnt/data/p");
  EXPECT_EQ(narrowed[0].boundary, "/mnt/data");
  EXPECT_EQ(narrowed[1].root.host, "/data/p/vendor");
}

TEST(Narrow, NameCountsBeforeWhatItsLinksLeadTo) {
  const auto narrowed = Narrow({MakeRoot("/home/u", "/u", false), MakeRoot("/data", "/d", true)},
                               {{"/home/u/link", "/data/p"}});
  EXPECT_EQ(narrowed.at(0).root.guest, "/u/link");
  EXPECT_FALSE(narrowed.at(0).root.writable);
}

TEST(Narrow, SpellingThroughAnAliasIsKept) {
  Root root = MakeRoot("/tmp/x", "/tmp/x", true);
  root.host_aliases = {"/private/tmp/x"};
  const auto narrowed = Narrow({root}, {{"/private/tmp/x/y"}});
  EXPECT_EQ(narrowed.at(0).root.host, "/private/tmp/x/y");
  EXPECT_EQ(narrowed.at(0).root.guest, "/tmp/x/y");
}

}  // namespace
}  // namespace paths
