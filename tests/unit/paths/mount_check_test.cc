// Whether the guest has a mount, and which check a guest gets.

#include "paths/mount_check.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "lima/mounts.h"
#include "support/errors.h"
#include "unit/paths/mount_guest.h"

namespace paths {
namespace {

using ::testing::HasSubstr;

class MountWatchTest : public ::testing::Test {
 protected:
  MountWatchTest() { guest.Show(""); }

  bool IsMounted(std::size_t mount = 0) { return watch.Ask(mount, guest, {}).mounted; }

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

  static constexpr guest::FileSystemStatus kMounted{.free_bytes = 5,
                                                    .read_only = false,
                                                    .id = 99,
                                                    .block_size = 4096,
                                                    .blocks = 50,
                                                    .maximum_name = 255};
  MountGuest guest;
  MountWatch watch{{{"/work", kTag}, {"/work/inner", "lima-fedcba9876543210"}}};
};

TEST_F(MountWatchTest, KnowsTheMountsThatLimaMakes) {
  struct Row {
    std::string type;
    std::string source;
    bool is_limas;
  };
  for (const auto& [type, source, is_limas] : {
           Row{"9p", kTag, true},
           Row{"virtiofs", kTag, true},
           Row{"fuse.sshfs", ":/Users/me/work", true},
           Row{"9p", "mount0", true},
           Row{"9p", "mount17", true},
           Row{"9p", "mount", false},
           Row{"9p", "mountx", false},
           Row{"9p", "mount1x", false},
           Row{"9p", "lima-fedcba9876543210", false},
           Row{"ext4", kTag, false},
       }) {
    MountWork(type, source);
    EXPECT_EQ(IsMounted(), is_limas) << type << " " << source;
    UnmountWork();
    EXPECT_FALSE(IsMounted());
  }
  guest.Show("80 30 0:44 /sub /work rw - 9p " + std::string(kTag) + " rw\n");
  EXPECT_FALSE(IsMounted()) << "a part of the shared directory";
}

TEST_F(MountWatchTest, MountOnTopHidesIt) {
  MountWork("9p", kTag);
  EXPECT_TRUE(IsMounted());
  guest.Show(Line("/work", "9p", kTag) + Line("/work", "tmpfs", "cover", "rw", 81, 80));
  guest.file_systems["/work"].id = 3;
  EXPECT_FALSE(IsMounted());
}

TEST_F(MountWatchTest, MountPointCountsResolved) {
  guest.links["/work"] = "/var/mnt/a b";
  guest.Show(Line("/var/mnt/a\\040b", "virtiofs", kTag));
  guest.missing.insert("/work");
  EXPECT_FALSE(IsMounted());
  guest.missing.clear();
  EXPECT_TRUE(IsMounted());
}

TEST_F(MountWatchTest, NestedMountsAreJudgedOneByOne) {
  const std::string outer = Line("/work", "9p", kTag);
  guest.Show(outer);
  EXPECT_TRUE(IsMounted(0));
  EXPECT_FALSE(IsMounted(1));
  guest.Show(outer + Line("/work/inner", "9p", "lima-fedcba9876543210", "ro", 81, 80));
  EXPECT_TRUE(IsMounted(1));
}

TEST_F(MountWatchTest, TableIsReadAgainOnlyIfTheFileSystemChanges) {
  MountWork("9p", kTag);
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
  MountWork("9p", kTag);
  EXPECT_TRUE(IsMounted());
}

TEST_F(MountWatchTest, FileSystemWithoutIdentityIsKnownByItsSize) {
  MountWork("fuse.sshfs", ":/Users/me");
  guest.file_systems["/work"].id = 0;
  EXPECT_TRUE(IsMounted());
  guest.Show("");
  guest.file_systems["/work"] = MountGuest::kRootFileSystem;
  guest.file_systems["/work"].id = 0;
  EXPECT_FALSE(IsMounted());
}

TEST_F(MountWatchTest, MountThatAppearsWhileTheTableIsReadIsNotTakenForTheDirectoryBeneath) {
  guest.on_run = [this] { MountWork("9p", kTag); };
  EXPECT_TRUE(IsMounted());
  guest.on_run = nullptr;
  UnmountWork();  // statvfs reports the first file system again
  EXPECT_FALSE(IsMounted());
}

TEST_F(MountWatchTest, WithoutStatvfsTheTableIsReadEachTime) {
  guest.offers_statvfs = false;
  MountWork("9p", kTag);
  EXPECT_TRUE(IsMounted());
  UnmountWork();
  EXPECT_FALSE(IsMounted());
  EXPECT_EQ(guest.tables_read, 2);
}

TEST_F(MountWatchTest, CacheOptionShowsWhetherReadsMayBeStale) {
  MountWork("9p", kTag, "ro,dirsync,fscache,trans=virtio");
  EXPECT_TRUE(watch.Ask(0, guest, {}).reads_may_be_stale);
  EXPECT_TRUE(watch.Ask(0, guest, {}).reads_may_be_stale) << "also without the table";
  EXPECT_TRUE(watch.LastKnown(0).reads_may_be_stale);
  UnmountWork();
  EXPECT_FALSE(watch.Ask(0, guest, {}).reads_may_be_stale);
  MountWork("9p", kTag, "ro,dirsync,mmap,trans=virtio");
  EXPECT_FALSE(watch.Ask(0, guest, {}).reads_may_be_stale);
}

TEST_F(MountWatchTest, UnreadableTableIsAnError) {
  guest.table_status = 1;
  EXPECT_THAT([this] { watch.Ask(0, guest, {}); },
              ::testing::ThrowsMessage<support::CallError>(HasSubstr("cannot be read")));
}

class MakeMountCheckTest : public ::testing::Test {
 protected:
  MakeMountCheckTest() {
    mount.location = mount.mount_point = mount.unclean_mount_point = "/work";
    guest.Show(Line("/work", "9p", lima::MountTag(mount)));
  }

  std::shared_ptr<MountCheck> Make() { return MakeMountCheck(configuration, {mount}, guest, {}); }

  lima::Mount mount;
  lima::InstanceConfiguration configuration;
  MountGuest guest;
};

TEST_F(MakeMountCheckTest, ExpectsLimasTagAndLogsMissingMounts) {
  const auto check = Make();
  ASSERT_NE(check, nullptr);
  EXPECT_TRUE(check->Ask(0, guest, {}).mounted);
  guest.Show("");
  ::testing::internal::CaptureStderr();
  EXPECT_NE(Make(), nullptr);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("/work is not mounted"));
}

TEST_F(MakeMountCheckTest, OnThisMachineTheSameIsAskedAndEveryMountPasses) {
  if (!std::filesystem::exists(kBootIdFile)) GTEST_SKIP() << "this system has no " << kBootIdFile;
  std::ifstream file(kBootIdFile);
  std::getline(file, guest.boot_id);
  guest.Show("");
  const auto check = Make();
  ASSERT_NE(check, nullptr);
  guest.round_trips = 0;
  EXPECT_TRUE(check->Ask(0, guest, {}).mounted);
  EXPECT_TRUE(check->LastKnown(0).mounted);
  EXPECT_EQ(guest.round_trips, 1);
  EXPECT_EQ(guest.tables_read, 0);
}

TEST_F(MakeMountCheckTest, NothingIsCheckedWithoutMountsOrWithoutATable) {
  EXPECT_EQ(MakeMountCheck(configuration, {}, guest, {}), nullptr);
  guest.table_status = 3;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Make(), nullptr);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("not checked"));
}

TEST_F(MakeMountCheckTest, GuestThatFailsNowIsAskedAtEachCall) {
  guest.on_run = [] { throw support::CallError("no more processes"); };
  const auto check = Make();
  ASSERT_NE(check, nullptr);
  EXPECT_FALSE(check->LastKnown(0).mounted);
  EXPECT_THROW(check->Ask(0, guest, {}), support::CallError);
  guest.on_run = nullptr;
  EXPECT_TRUE(check->Ask(0, guest, {}).mounted);
  guest.on_run = [] { throw support::ConnectionLost("lost", false); };
  EXPECT_THROW(Make(), support::ConnectionLost);
}

TEST_F(MakeMountCheckTest, MountPointsOfMacGuestsAreLinksToTheSharedVolume) {
  configuration.os = "Darwin";
  const auto check = Make();
  ASSERT_NE(check, nullptr);
  EXPECT_FALSE(check->Ask(0, guest, {}).mounted);
  const std::string shared = "/Volumes/My Shared Files/" + lima::MountTag(mount);
  guest.links["/work"] = shared;
  EXPECT_TRUE(check->Ask(0, guest, {}).mounted);
  EXPECT_FALSE(check->LastKnown(0).mounted) << "it is looked for each time";
  guest.missing.insert(shared);
  EXPECT_FALSE(check->Ask(0, guest, {}).mounted);
  guest.links["/work"] = "/Volumes/My Shared Files/lima-0000000000000000";
  EXPECT_FALSE(check->Ask(0, guest, {}).mounted);
  EXPECT_EQ(guest.tables_read, 0);
}

}  // namespace
}  // namespace paths
