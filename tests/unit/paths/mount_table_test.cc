#include <gtest/gtest.h>

#include "paths/mount_check.h"

namespace paths {
namespace {

// The first lines of a real instance's table (Debian 12, Lima 2.2), and what its mounts look like.
constexpr const char* kGuest =
    "24 30 0:22 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw\n"
    "30 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    "31 30 0:28 / /dev/shm rw,nosuid,nodev shared:4 - tmpfs tmpfs rw,inode64\n"
    "80 30 0:44 / /work rw,relatime shared:43 - 9p lima-0123456789abcdef "
    "rw,access=client,msize=131072,trans=virtio\n"
    "81 80 0:45 / /work/inner ro,relatime shared:44 master:2 - 9p lima-fedcba9876543210 "
    "ro,dirsync,fscache,access=client,trans=virtio\n"
    "82 30 0:46 / /mnt/a\\040b\\134c\\011d\\043 rw,relatime - virtiofs lima-1111111111111111 rw\n"
    "83 30 0:47 / /home/me rw,nosuid - fuse.sshfs :/Users/me rw,user_id=501,allow_other\n";

using Table = std::vector<MountLine>;

std::string TypeAt(const Table& table, std::string_view path) {
  const MountLine* line = FindMount(table, path);
  return line == nullptr ? "(none)" : line->mount_point + " " + line->type + " " + line->source;
}

TEST(MountTable, FindsTheMountThatAPathLiesIn) {
  const Table table = ParseMountTable(kGuest);
  EXPECT_EQ(TypeAt(table, "/"), "/ ext4 /dev/vda");
  EXPECT_EQ(TypeAt(table, "/workshop"), "/ ext4 /dev/vda");
  EXPECT_EQ(TypeAt(table, "/work"), "/work 9p lima-0123456789abcdef");
  EXPECT_EQ(TypeAt(table, "/work/a/b"), "/work 9p lima-0123456789abcdef");
  EXPECT_EQ(TypeAt(table, "/work/inner"), "/work/inner 9p lima-fedcba9876543210");
  EXPECT_EQ(TypeAt(table, "/home/me/x"), "/home/me fuse.sshfs :/Users/me");
}

TEST(MountTable, DecodesTheKernelsEscapes) {
  EXPECT_EQ(TypeAt(ParseMountTable(kGuest), "/mnt/a b\\c\td#/x"),
            "/mnt/a b\\c\td# virtiofs lima-1111111111111111");
  EXPECT_EQ(TypeAt(ParseMountTable("1 0 0:1 / / rw - tmpfs a\\04 rw\n"), "/"), "/ tmpfs a\\04");
}

TEST(MountTable, MountThatLiesOverOthersHidesThem) {
  const Table over_work =
      ParseMountTable(std::string(kGuest) + "90 80 0:50 / /work rw - tmpfs cover rw\n");
  EXPECT_EQ(TypeAt(over_work, "/work/a"), "/work tmpfs cover");
  EXPECT_EQ(TypeAt(over_work, "/work/inner/a"), "/work tmpfs cover") << "of the hidden one";
  const Table over_home =
      ParseMountTable(std::string(kGuest) + "90 30 0:50 / /home rw - tmpfs cover rw\n");
  EXPECT_EQ(TypeAt(over_home, "/home/me"), "/home tmpfs cover");
}

TEST(MountTable, IgnoresLinesThatAreNotMounts) {
  EXPECT_EQ(TypeAt(ParseMountTable(""), "/"), "(none)");
  EXPECT_EQ(TypeAt(ParseMountTable("garbage\n\n1 2\n1 1 0:1 / relative rw - x y z\n"), "/"),
            "(none)");
  EXPECT_EQ(TypeAt(ParseMountTable("1 1 0:1 / / rw - tmpfs none"), "/a"), "/ tmpfs none");
  EXPECT_EQ(TypeAt(ParseMountTable("2 1 0:1 / / rw"), "/a"), "(none)");
}

bool IsStale(const std::string& type, const std::string& options) {
  MountLine line;
  line.type = type;
  line.super_options = options;
  return HasStaleCache(line);
}

TEST(StaleCache, IsA9pMountThatNeverAsksTheHostAgain) {
  for (const char* options :
       {"ro,dirsync,fscache,access=client,trans=virtio", "rw,loose", "rw,cache=loose",
        "ro,cache=fscache,access=client", "rw,cache=f,trans=virtio", "rw,cache=8f"}) {
    EXPECT_TRUE(IsStale("9p", options)) << options;
    EXPECT_FALSE(IsStale("virtiofs", options)) << options;
  }
  for (const char* options : {"rw,dirsync,mmap,access=client,trans=virtio", "rw,cache=mmap",
                              "rw,cache=none", "rw,cache=5", "rw,trans=virtio", ""}) {
    EXPECT_FALSE(IsStale("9p", options)) << options;
  }
}

}  // namespace
}  // namespace paths
