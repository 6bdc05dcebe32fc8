// SPDX-License-Identifier: Apache-2.0
#include "paths/roots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/errors.h"
#include "testing/temporary_directory.h"

namespace paths {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

lima::Mount MakeMount(const std::string& location, const std::string& mount_point, bool writable) {
  lima::Mount mount;
  mount.location = location;
  mount.mount_point = mount_point;
  mount.unclean_mount_point = mount_point;
  mount.writable = writable;
  return mount;
}

/// The roots that `--root` leaves of the mounts.
std::vector<Root> Narrow(const std::vector<lima::Mount>& mounts, const Root& narrowed) {
  return SelectRoots(mounts, {{narrowed}, {}});
}

std::vector<std::string> HostPaths(const std::vector<Root>& roots) {
  std::vector<std::string> paths;
  for (const Root& root : roots) paths.push_back(root.host);
  return paths;
}

TEST(ParseAllowedPath, ReadsADirectoryAndItsSuffix) {
  EXPECT_EQ(ParseAllowedPath("/tmp").host, "/tmp");
  EXPECT_FALSE(ParseAllowedPath("/tmp").writable);
  EXPECT_EQ(ParseAllowedPath("/tmp/:w").host, "/tmp");
  EXPECT_TRUE(ParseAllowedPath("/tmp/:w").writable);
  EXPECT_EQ(ParseAllowedPath("/").host, "/");
  EXPECT_EQ(ParseAllowedPath("/a/../b//c/").host, "/b/c");
  for (const char* value : {"", ":w", "tmp", "./tmp:w", "~/x", "/tmp:r", "/tmp:ro", "/tmp:rw"}) {
    EXPECT_THROW(ParseAllowedPath(value), support::Error) << value;
  }
}

TEST(ParseNarrowedRoot, IsTakenFromTheWorkingDirectory) {
  const std::string here = fs::current_path().string();
  EXPECT_EQ(ParseNarrowedRoot(".").host, here);
  EXPECT_EQ(ParseNarrowedRoot("a/../b/").host, here + "/b");
  EXPECT_EQ(ParseNarrowedRoot("/x//y/").host, "/x/y");
  EXPECT_THROW(ParseNarrowedRoot(""), support::Error);
  EXPECT_THROW(ParseNarrowedRoot("/dev/null"), support::Error) << "is no directory";
}

TEST(SelectRoots, MountHasItsResolvedLocationAsASecondName) {
  const testing_support::TemporaryDirectory directory;
  const fs::path real = directory.path() / "real";
  const fs::path link = directory.path() / "link";
  fs::create_directory(real);
  fs::create_directory_symlink(real, link);
  lima::Mount mount = MakeMount(link, "/mnt", true);
  mount.unclean_mount_point = "/mnt/";
  const auto roots = SelectRoots({mount, MakeMount("/nowhere/at/all", "/nowhere", false)}, {});
  ASSERT_EQ(roots.size(), 2U);
  EXPECT_EQ(roots[0].host, link.string());
  EXPECT_EQ(roots[0].guest, "/mnt");
  EXPECT_EQ(roots[0].written_guest, "/mnt/");
  EXPECT_TRUE(roots[0].writable);
  EXPECT_EQ(roots[0].resolved_host, real.string());
  EXPECT_EQ(roots[1].resolved_host, "");
}

TEST(SelectRoots, AllowedPathsFollowTheMounts) {
  const auto roots = SelectRoots({MakeMount("/a", "/x", true)}, {{}, {ParseAllowedPath("/tmp:w")}});
  EXPECT_THAT(HostPaths(roots), ElementsAre("/a", "/tmp"));
  EXPECT_FALSE(roots.at(0).is_guests_own);
  EXPECT_TRUE(roots.at(1).is_guests_own);
}

TEST(NarrowedRoots, LieInTheLongestMountAndHaveItsRights) {
  const std::vector<lima::Mount> mounts = {MakeMount("/home", "/home", true),
                                           MakeMount("/home/u", "/u", false)};
  const Root root = Narrow(mounts, {"/home/u/project"}).at(0);
  EXPECT_EQ(root.host, "/home/u/project");
  EXPECT_EQ(root.guest, "/u/project");
  EXPECT_EQ(root.narrowed_from, "/u");
  EXPECT_FALSE(root.writable);
  EXPECT_TRUE(Narrow(mounts, {"/home/user"}).at(0).writable) << "whole components";
  EXPECT_EQ(Narrow(mounts, {"/home/u"}).at(0).guest, "/u");
  EXPECT_EQ(Narrow(mounts, {"/home/u"}).at(0).narrowed_from, "") << "it is the mount";
  EXPECT_EQ(Narrow({MakeMount("/", "/", false)}, {"/srv"}).at(0).guest, "/srv");
  EXPECT_EQ(Narrow({MakeMount("/", "/host", false)}, {"/"}).at(0).guest, "/host");
}

TEST(NarrowedRoots, KeepMountsNestedInside) {
  const auto roots =
      Narrow({MakeMount("/home/u", "/home/u", true), MakeMount("/home/u/p/vendor", "/v", false),
              MakeMount("/opt/keys", "/home/u/p/keys", false), MakeMount("/srv", "/srv", true)},
             {"/home/u/p"});
  EXPECT_THAT(HostPaths(roots), ElementsAre("/home/u/p", "/home/u/p/vendor", "/opt/keys"));
}

TEST(NarrowedRoots, AreFoundByTheirNameOrElseByTheirResolvedName) {
  const auto roots =
      Narrow({MakeMount("/data", "/mnt/data", true), MakeMount("/data/p/vendor", "/v", false)},
             {.host = "/home/u/project", .resolved_host = "/data/p"});
  EXPECT_THAT(HostPaths(roots), ElementsAre("/home/u/project", "/data/p/vendor"));
  EXPECT_EQ(roots.at(0).resolved_host, "/data/p");
  EXPECT_EQ(roots.at(0).guest, "/mnt/data/p");
  EXPECT_EQ(roots.at(0).narrowed_from, "/mnt/data");

  const Root by_name = Narrow({MakeMount("/home/u", "/u", false), MakeMount("/data", "/d", true)},
                              {.host = "/home/u/link", .resolved_host = "/data/p"})
                           .at(0);
  EXPECT_EQ(by_name.guest, "/u/link");
  EXPECT_FALSE(by_name.writable);
}

}  // namespace
}  // namespace paths
