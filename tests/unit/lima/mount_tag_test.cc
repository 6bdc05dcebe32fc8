#include "lima/mount_tag.h"

#include <gtest/gtest.h>

namespace lima {
namespace {

Mount MountOf(const std::string& location, const std::string& mount_point) {
  Mount mount;
  mount.location = location;
  mount.unclean_mount_point = mount_point;
  return mount;
}

// printf '%s' /Users/me:/Users/me | sha256sum
TEST(MountTag, IsTheBeginningOfTheHashOfBothPaths) {
  EXPECT_EQ(MountTag(MountOf("/Users/me", "/Users/me")), "lima-2ef1b209a83bda15");
  EXPECT_EQ(MountTag(MountOf("/home/me/a b", "/mnt/ä")), "lima-51584bcfaf9163c2");
}

TEST(MountTag, TakesTheMountPointAsLimaHasItNotCleaned) {
  EXPECT_NE(MountTag(MountOf("/a", "/b/")), MountTag(MountOf("/a", "/b")));
}

}  // namespace
}  // namespace lima
