// SPDX-License-Identifier: Apache-2.0
#include "paths/mount_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "lima/mounts.h"
#include "support/errors.h"
#include "testing/local_guest.h"

namespace paths {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Table = std::vector<MountLine>;

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

/// Identifies this boot of this machine.
constexpr const char* kBootIdFile = "/proc/sys/kernel/random/boot_id";

/// A guest whose mount table, file systems and links a test sets.
class MountGuest final : public testing_support::LocalGuest {
 public:
  MountGuest() {
    set_reply([this](const guest::Request& request, const auto&) { return FakeReply(request); });
    set_run([this](const shell::Script&, shell::OutputSink& sink, const support::Context&) {
      ++round_trips;
      ++tables_read;
      if (on_run) on_run();
      return testing_support::Print(sink, table_status == 0 ? table : "", table_status);
    });
  }

  void Show(const std::string& mountinfo) {
    table = "30 1 254:0 / / rw - ext4 /dev/vda rw\n" + mountinfo;
  }

  std::string table;
  int table_status = 0;  ///< of the command that prints it; 3: there is no table
  std::map<std::string, guest::FileSystemStatus> file_systems;  ///< by mount point
  std::map<std::string, std::string> links;
  std::set<std::string> missing;
  bool offers_statvfs = true;
  std::string boot_id = "another machine's";
  std::function<void()> on_run;

  int round_trips = 0;
  int tables_read = 0;

  static constexpr guest::FileSystemStatus kRootFileSystem{1, false, 7, 4096, 1000, 255};

 private:
  std::optional<guest::Reply> FakeReply(const guest::Request& request) {
    const std::string& path = request.path;
    if (path == kBootIdFile) {
      if (request.operation == guest::Operation::kOpen) return guest::Reply();
      return guest::Reply{request.offset == 0 ? boot_id : "", {}};
    }
    const bool is_missing = missing.contains(path);
    switch (request.operation) {
      case guest::Operation::kRealPath:
        ++round_trips;
        if (is_missing) break;
        return guest::Reply{links.contains(path) ? links.at(path) : path, {}};
      case guest::Operation::kLStat:
        if (is_missing) break;
        return guest::Reply{guest::FileAttributes{.type = guest::FileType::kDirectory}, {}};
      case guest::Operation::kStatFileSystem:
        ++round_trips;
        if (!offers_statvfs) {
          throw guest::FileError(guest::FileErrorCode::kUnsupported, "statvfs", path, "");
        }
        return guest::Reply{file_systems.contains(path) ? file_systems.at(path) : kRootFileSystem,
                            {}};
      default:
        return std::nullopt;
    }
    throw guest::FileError(guest::FileErrorCode::kNotFound, "look at", path, "");
  }
};

/// A line of the mount table.
std::string Line(const std::string& mount_point, const std::string& type, const std::string& source,
                 const std::string& options = "rw", int id = 80, int parent = 30) {
  return std::to_string(id) + " " + std::to_string(parent) + " 0:44 / " + mount_point +
         " rw,relatime shared:1 - " + type + " " + source + " " + options + "\n";
}

lima::Mount Mount(const std::string& path) {
  lima::Mount mount;
  mount.location = mount.mount_point = mount.unclean_mount_point = path;
  return mount;
}

class MountCheckTest : public ::testing::Test {
 protected:
  MountCheckTest() { guest.Show(""); }

  bool IsMounted(std::size_t number = 0) { return check.Check(number, guest, {}).mounted; }

  /// Mounts `type` at /work: the table shows it, and the file system is another one.
  void MountWork(const std::string& type, const std::string& source,
                 const std::string& options = "rw") {
    guest.Show(Line("/work", type, source, options));
    guest.file_systems["/work"] = kMounted;
  }
  void UnmountWork() {
    guest.Show("");
    guest.file_systems.erase("/work");
  }

  static constexpr guest::FileSystemStatus kMounted{5, false, 99, 4096, 50, 255};
  MountGuest guest;
  const lima::Mount mount = Mount("/work");
  const lima::Mount inner = Mount("/work/inner");
  const std::string tag = lima::MountTag(mount);
  MountCheck check{{mount, inner}, "Linux"};
};

TEST_F(MountCheckTest, KnowsTheMountsThatLimaMakes) {
  struct Row {
    std::string type;
    std::string source;
    bool is_limas;
  };
  for (const auto& [type, source, is_limas] : {
           Row{"9p", tag, true},
           Row{"virtiofs", tag, true},
           Row{"fuse.sshfs", ":/Users/me/work", true},
           Row{"9p", "mount0", true},
           Row{"9p", "mount17", true},
           Row{"9p", "mount", false},
           Row{"9p", "mountx", false},
           Row{"9p", "mount1x", false},
           Row{"9p", "lima-fedcba9876543210", false},
           Row{"ext4", tag, false},
       }) {
    MountWork(type, source);
    EXPECT_EQ(IsMounted(), is_limas) << type << " " << source;
    EXPECT_EQ(check.LastKnown(0).may_vanish, type == "fuse.sshfs");
    UnmountWork();
    EXPECT_FALSE(IsMounted());
  }
  guest.Show("80 30 0:44 /sub /work rw - 9p " + tag + " rw\n");
  EXPECT_FALSE(IsMounted()) << "a part of the shared directory";
  guest.table_status = 1;
  EXPECT_THROW(IsMounted(), support::Error) << "the table cannot be read";
}

TEST_F(MountCheckTest, MountOnTopHidesIt) {
  MountWork("9p", tag);
  EXPECT_TRUE(IsMounted());
  guest.Show(Line("/work", "9p", tag) + Line("/work", "tmpfs", "cover", "rw", 81, 80));
  guest.file_systems["/work"].id = 3;
  EXPECT_FALSE(IsMounted());
}

TEST_F(MountCheckTest, MountPointCountsResolved) {
  guest.links["/work"] = "/var/mnt/a b";
  guest.Show(Line("/var/mnt/a\\040b", "virtiofs", tag));
  guest.missing.insert("/work");
  EXPECT_FALSE(IsMounted());
  guest.missing.clear();
  EXPECT_TRUE(IsMounted());
}

TEST_F(MountCheckTest, NestedMountsAreCheckedOneByOne) {
  const std::string outer = Line("/work", "9p", tag);
  guest.Show(outer);
  EXPECT_TRUE(IsMounted(0));
  EXPECT_FALSE(IsMounted(1));
  guest.Show(outer + Line("/work/inner", "9p", lima::MountTag(inner), "ro", 81, 80));
  EXPECT_TRUE(IsMounted(1));
}

TEST_F(MountCheckTest, TableIsReadAgainOnlyIfTheFileSystemChanges) {
  MountWork("9p", tag);
  EXPECT_TRUE(IsMounted());
  guest.round_trips = 0;
  for (int i = 0; i < 3; ++i) {
    guest.file_systems["/work"].free_bytes = 4;
    guest.file_systems["/work"].blocks = 49;
    EXPECT_TRUE(IsMounted());
  }
  EXPECT_EQ(guest.round_trips, 3);
  EXPECT_EQ(guest.tables_read, 1);
  UnmountWork();
  EXPECT_FALSE(IsMounted());
  EXPECT_FALSE(IsMounted());
  EXPECT_EQ(guest.tables_read, 3) << "a missing mount is looked for each time";
  MountWork("9p", tag);
  EXPECT_TRUE(IsMounted());
}

TEST_F(MountCheckTest, FileSystemWithoutIdentityIsKnownByItsSize) {
  MountWork("fuse.sshfs", ":/Users/me");
  guest.file_systems["/work"].id = 0;
  EXPECT_TRUE(IsMounted());
  guest.Show("");
  guest.file_systems["/work"] = MountGuest::kRootFileSystem;
  guest.file_systems["/work"].id = 0;
  EXPECT_FALSE(IsMounted());
}

TEST_F(MountCheckTest, MountThatAppearsWhileTheTableIsReadIsNotTakenForTheDirectoryBeneath) {
  guest.on_run = [this] { MountWork("9p", tag); };
  EXPECT_TRUE(IsMounted());
  guest.on_run = nullptr;
  UnmountWork();  // statvfs reports the first file system again
  EXPECT_FALSE(IsMounted());
}

TEST_F(MountCheckTest, WithoutStatvfsTheTableIsReadEachTime) {
  guest.offers_statvfs = false;
  MountWork("9p", tag);
  EXPECT_TRUE(IsMounted());
  UnmountWork();
  EXPECT_FALSE(IsMounted());
  EXPECT_EQ(guest.tables_read, 2);
}

TEST_F(MountCheckTest, CheckAllReadsTheTableOnceAndLogsMissingMounts) {
  MountWork("9p", tag);
  ::testing::internal::CaptureStderr();
  check.CheckAll(guest, {});
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("/work/inner is not mounted"), Not(HasSubstr("/work is not"))));
  EXPECT_TRUE(check.LastKnown(0).mounted);
  EXPECT_FALSE(check.LastKnown(1).mounted);
  EXPECT_EQ(guest.tables_read, 1);
  EXPECT_TRUE(IsMounted());
  EXPECT_EQ(guest.tables_read, 1);
}

TEST_F(MountCheckTest, OnThisMachineOrWithoutATableEveryMountPasses) {
  guest.table_status = 3;
  ::testing::internal::CaptureStderr();
  check.CheckAll(guest, {});
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("not checked"));
  EXPECT_TRUE(IsMounted());
  std::ifstream file(kBootIdFile);
  if (!std::getline(file, guest.boot_id)) GTEST_SKIP() << "this system has no " << kBootIdFile;
  check.CheckAll(guest, {});
  guest.round_trips = guest.tables_read = 0;
  EXPECT_TRUE(IsMounted());
  EXPECT_EQ(guest.round_trips, 1);
  EXPECT_EQ(guest.tables_read, 0);
}

TEST_F(MountCheckTest, MountPointsOfMacGuestsAreLinksToTheSharedVolume) {
  MountCheck mac({mount}, "Darwin");
  const std::string shared = "/Volumes/My Shared Files/" + tag;
  EXPECT_FALSE(mac.Check(0, guest, {}).mounted);
  guest.links["/work"] = "/Volumes/My Shared Files/lima-0000000000000000";
  EXPECT_FALSE(mac.Check(0, guest, {}).mounted);
  guest.links["/work"] = shared;
  guest.missing.insert(shared);
  EXPECT_FALSE(mac.Check(0, guest, {}).mounted);
  guest.missing.clear();
  EXPECT_TRUE(mac.Check(0, guest, {}).mounted);
  EXPECT_EQ(guest.tables_read, 0);
}

}  // namespace
}  // namespace paths
