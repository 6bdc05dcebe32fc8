#include "paths/mount_watch.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <string>

#include "support/errors.h"
#include "unit/paths/mount_guest.h"

namespace paths {
namespace {

using ::testing::HasSubstr;

class MountWatchTest : public ::testing::Test {
 protected:
  MountWatchTest() { guest.Show(""); }

  bool IsMounted(std::size_t mount = 0) { return watch.Ask(mount, guest, {}).mounted; }

  /// Mounts `type` at /work: the table says so, and the file system is another one.
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

TEST_F(MountWatchTest, DirectoryOfTheGuestIsNotMounted) {
  EXPECT_FALSE(IsMounted());
}

TEST_F(MountWatchTest, KnowsEachKindOfMountThatLimaMakes) {
  for (const auto& [type, source] : std::map<std::string, std::string>{
           {"9p", kTag}, {"virtiofs", kTag}, {"fuse.sshfs", ":/Users/me/work"}}) {
    MountWork(type, source);
    EXPECT_TRUE(IsMounted()) << type;
    UnmountWork();
    EXPECT_FALSE(IsMounted()) << type;
  }
}

TEST_F(MountWatchTest, KnowsTheNumberedTagsOfOlderLima) {
  for (const char* tag : {"mount0", "mount17"}) {
    MountWork("9p", tag);
    EXPECT_TRUE(IsMounted()) << tag;
    UnmountWork();
    EXPECT_FALSE(IsMounted());
  }
  for (const char* tag : {"mount", "mountx", "mount1x", "other"}) {
    MountWork("9p", tag);
    EXPECT_FALSE(IsMounted()) << tag;
  }
}

TEST_F(MountWatchTest, AnotherMountsTagIsNotTheMount) {
  MountWork("9p", "lima-fedcba9876543210");
  EXPECT_FALSE(IsMounted());
}

TEST_F(MountWatchTest, PartOfTheSharedDirectoryIsNotTheMount) {
  guest.Show("80 30 0:44 /sub /work rw - 9p " + std::string(kTag) + " rw\n");
  EXPECT_FALSE(IsMounted());
}

TEST_F(MountWatchTest, MountOfAnotherKindOnTopHidesIt) {
  MountWork("9p", kTag);
  EXPECT_TRUE(IsMounted());
  guest.Show(Line("/work", "9p", kTag) + Line("/work", "tmpfs", "cover", "rw", 81, 80));
  guest.file_systems["/work"].id = 3;
  EXPECT_FALSE(IsMounted());
}

TEST_F(MountWatchTest, MountPointIsLookedUpWithItsLinksResolved) {
  guest.links["/work"] = "/var/mnt/a b";
  guest.Show(Line("/var/mnt/a\\040b", "virtiofs", kTag));
  EXPECT_TRUE(IsMounted());
}

TEST_F(MountWatchTest, MountPointThatIsNotThereIsNotMounted) {
  guest.missing.insert("/work");
  guest.Show(Line("/work", "9p", kTag));
  EXPECT_FALSE(IsMounted());
}

TEST_F(MountWatchTest, NestedMountsAreAskedForOneByOne) {
  const std::string outer = Line("/work", "9p", kTag);
  guest.Show(outer);
  EXPECT_TRUE(IsMounted(0));
  EXPECT_FALSE(IsMounted(1));
  guest.Show(outer + Line("/work/inner", "9p", "lima-fedcba9876543210", "ro", 81, 80));
  EXPECT_TRUE(IsMounted(1));
}

TEST_F(MountWatchTest, MountedOneCostsOneRoundTripACall) {
  MountWork("9p", kTag);
  EXPECT_TRUE(IsMounted());
  guest.round_trips = 0;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(IsMounted());
  EXPECT_EQ(guest.round_trips, 3);
  EXPECT_EQ(guest.tables_read, 1);
}

TEST_F(MountWatchTest, FreeSpaceMayChange) {
  MountWork("9p", kTag);
  EXPECT_TRUE(IsMounted());
  guest.file_systems["/work"].free_bytes = 4;
  guest.file_systems["/work"].blocks = 49;
  EXPECT_TRUE(IsMounted());
  EXPECT_EQ(guest.tables_read, 1);
}

TEST_F(MountWatchTest, MissingOneIsAskedForAgainUntilItIsThere) {
  EXPECT_FALSE(IsMounted());
  EXPECT_FALSE(IsMounted());
  EXPECT_EQ(guest.tables_read, 2);
  MountWork("9p", kTag);
  EXPECT_TRUE(IsMounted());
}

TEST_F(MountWatchTest, VanishedOneIsNoticedAtTheNextCall) {
  MountWork("9p", kTag);
  EXPECT_TRUE(IsMounted());
  UnmountWork();
  EXPECT_FALSE(IsMounted());
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

TEST_F(MountWatchTest, MountThatComesWhileTheTableIsReadIsNotTakenForTheDirectoryBeneath) {
  guest.on_run = [this] { MountWork("9p", kTag); };
  EXPECT_TRUE(IsMounted());
  guest.on_run = nullptr;
  UnmountWork();  // statvfs says again what it said at first
  EXPECT_FALSE(IsMounted());
}

TEST_F(MountWatchTest, WithoutStatvfsTheTableIsReadEachTime) {
  guest.offers_statvfs = false;
  MountWork("9p", kTag);
  EXPECT_TRUE(IsMounted());
  EXPECT_TRUE(IsMounted());
  EXPECT_EQ(guest.tables_read, 2);
  UnmountWork();
  EXPECT_FALSE(IsMounted());
}

TEST_F(MountWatchTest, LiveCacheOptionTellsWhetherReadsMayBeStale) {
  MountWork("9p", kTag, "ro,dirsync,fscache,trans=virtio");
  EXPECT_TRUE(watch.Ask(0, guest, {}).reads_may_be_stale);
  EXPECT_TRUE(watch.Ask(0, guest, {}).reads_may_be_stale) << "also from memory";
  EXPECT_TRUE(watch.LastKnown(0).reads_may_be_stale);
  UnmountWork();
  EXPECT_FALSE(watch.Ask(0, guest, {}).reads_may_be_stale);
  MountWork("9p", kTag, "ro,dirsync,mmap,trans=virtio");
  EXPECT_FALSE(watch.Ask(0, guest, {}).reads_may_be_stale);
}

TEST_F(MountWatchTest, AskingForAllReadsTheTableOnce) {
  MountWork("9p", kTag);
  EXPECT_TRUE(watch.AskForAll(guest, {}));
  EXPECT_FALSE(watch.LastKnown(1).mounted);
  EXPECT_EQ(guest.tables_read, 1);
  EXPECT_TRUE(IsMounted());
  EXPECT_EQ(guest.tables_read, 1);
}

TEST_F(MountWatchTest, TableThatCannotBeReadIsNoAnswer) {
  guest.SpoilTable();
  const auto error = ::testing::ThrowsMessage<support::CallError>(HasSubstr("cannot be read"));
  EXPECT_THAT([this] { watch.AskForAll(guest, {}); }, error);
  EXPECT_THAT([this] { watch.Ask(0, guest, {}); }, error);
}

}  // namespace
}  // namespace paths
