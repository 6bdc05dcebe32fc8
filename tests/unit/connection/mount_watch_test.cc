#include "connection/mount_watch.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>

#include "guest/no_file_server.h"
#include "lima/mount_tag.h"
#include "support/errors.h"
#include "testing/local_guest.h"
#include "testing/temporary_directory.h"

namespace connection {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing_support::Operation;

/// A guest whose mount table, file systems and links are what a test says.
class MountGuest final : public testing_support::LocalGuest {
 public:
  void Show(const std::string& mountinfo) { std::ofstream(Table()) << kRoot << mountinfo; }
  void RemoveTable() { fs::remove(Table()); }

  std::map<std::string, guest::FileSystemStatus> file_systems;  ///< by mount point
  std::map<std::string, std::string> links;
  std::set<std::string> missing;
  bool offers_statvfs = true;
  bool has_file_server = true;
  std::string boot_id = "another machine's\n";
  std::function<void()> on_run;

  std::string RealPath(const std::string& path, const support::Context& context) override {
    context.ThrowIfStopped();
    ++round_trips;
    if (missing.contains(path)) {
      throw guest::FileError(guest::FileErrorCode::kNotFound, "realpath", path, "");
    }
    const auto link = links.find(path);
    return link == links.end() ? path : link->second;
  }

  guest::FileAttributes LStat(const std::string& path, const support::Context&) override {
    if (missing.contains(path)) {
      throw guest::FileError(guest::FileErrorCode::kNotFound, "lstat", path, "");
    }
    guest::FileAttributes attributes;
    attributes.type = guest::FileType::kDirectory;
    return attributes;
  }

  guest::FileSystemStatus StatFileSystem(const std::string& path,
                                         const support::Context&) override {
    ++round_trips;
    if (!has_file_server) throw guest::NoFileServer("no SFTP");
    if (!offers_statvfs) {
      throw guest::FileError(guest::FileErrorCode::kUnsupported, "statvfs", path, "");
    }
    const auto found = file_systems.find(path);
    return found == file_systems.end() ? kRootFileSystem : found->second;
  }

  std::unique_ptr<guest::OpenFile> Open(const std::string& path, guest::OpenMode mode,
                                        std::uint32_t permissions,
                                        const support::Context& context) override {
    if (!has_file_server) throw guest::NoFileServer("no SFTP");
    if (path != kBootIdFile) return LocalGuest::Open(path, mode, permissions, context);
    const fs::path file = directory_.path() / "boot_id";
    std::ofstream(file) << boot_id;
    return LocalGuest::Open(file, mode, permissions, context);
  }

  guest::CommandResult Run(const guest::Command& command, guest::OutputSink& sink,
                           const support::Context& context) override {
    ++round_trips;
    ++tables_read;
    if (on_run) on_run();
    guest::Command changed = command;
    const std::string name = "/proc/self/mountinfo";
    std::string& script = changed.standard_input;
    for (auto at = script.find(name); at != std::string::npos; at = script.find(name)) {
      script.replace(at, name.size(), Table());
    }
    return LocalGuest::Run(changed, sink, context);
  }

  int round_trips = 0;
  int tables_read = 0;

  static constexpr guest::FileSystemStatus kRootFileSystem{.free_bytes = 1,
                                                           .read_only = false,
                                                           .id = 7,
                                                           .block_size = 4096,
                                                           .blocks = 1000,
                                                           .maximum_name = 255};

 private:
  static constexpr const char* kRoot = "30 1 254:0 / / rw - ext4 /dev/vda rw\n";
  [[nodiscard]] std::string Table() const { return directory_.path() / "mountinfo"; }

  testing_support::TemporaryDirectory directory_;
};

constexpr const char* kTag = "lima-0123456789abcdef";

std::string Line(const std::string& mount_point, const std::string& type, const std::string& source,
                 const std::string& options = "rw", int id = 80, int parent = 30) {
  return std::to_string(id) + " " + std::to_string(parent) + " 0:44 / " + mount_point +
         " rw,relatime shared:1 - " + type + " " + source + " " + options + "\n";
}

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

TEST_F(MountWatchTest, GuestWithoutAnSftpServerIsAskedByCommands) {
  guest.has_file_server = false;
  MountWork("9p", kTag);
  EXPECT_TRUE(IsMounted());
  UnmountWork();
  EXPECT_FALSE(IsMounted());
  EXPECT_EQ(IsThisMachine(guest, {}), fs::exists(kBootIdFile)) << "the fake runs commands here";
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

class MakeMountCheckTest : public ::testing::Test {
 protected:
  MakeMountCheckTest() {
    mount.location = mount.mount_point = mount.unclean_mount_point = "/work";
    guest.Show(Line("/work", "9p", lima::MountTag(mount)));
  }

  std::shared_ptr<tools::MountCheck> Make() {
    return MakeMountCheck(configuration, {mount}, guest, {});
  }

  lima::Mount mount;
  lima::InstanceConfiguration configuration;
  MountGuest guest;
};

TEST_F(MakeMountCheckTest, ExpectsLimasTag) {
  const auto check = Make();
  ASSERT_NE(check, nullptr);
  EXPECT_TRUE(check->Ask(0, guest, {}).mounted);
}

TEST_F(MakeMountCheckTest, SaysWhichMountsAreMissing) {
  guest.Show("");
  ::testing::internal::CaptureStderr();
  EXPECT_NE(Make(), nullptr);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("/work is not mounted"));
}

TEST_F(MakeMountCheckTest, NothingIsCheckedWithoutMounts) {
  EXPECT_EQ(MakeMountCheck(configuration, {}, guest, {}), nullptr);
}

TEST_F(MakeMountCheckTest, NothingIsCheckedOnThisVeryMachine) {
  if (!fs::exists(kBootIdFile)) GTEST_SKIP() << "this system has no " << kBootIdFile;
  std::ifstream file(kBootIdFile);
  std::getline(file, guest.boot_id);
  EXPECT_EQ(Make(), nullptr);
  EXPECT_EQ(guest.tables_read, 0);
}

TEST_F(MakeMountCheckTest, SystemWithoutAMountTableIsSaidNotToBeChecked) {
  guest.RemoveTable();
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Make(), nullptr);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("not checked"));
}

TEST_F(MakeMountCheckTest, GuestThatCannotTellNowIsAskedAtEachCall) {
  guest.on_run = [] { throw support::CallError("no more processes"); };
  const auto check = Make();
  ASSERT_NE(check, nullptr);
  EXPECT_FALSE(check->LastKnown(0).mounted) << "nothing is known of it";
  EXPECT_THROW(check->Ask(0, guest, {}), support::CallError);
  guest.on_run = nullptr;
  EXPECT_TRUE(check->Ask(0, guest, {}).mounted);
}

TEST_F(MakeMountCheckTest, LostLineIsNoAnswer) {
  guest.on_run = [] { throw support::ConnectionLost("the line broke", false); };
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
  guest.missing.insert(shared);
  EXPECT_FALSE(check->Ask(0, guest, {}).mounted);
  guest.links["/work"] = "/Volumes/My Shared Files/lima-0000000000000000";
  EXPECT_FALSE(check->Ask(0, guest, {}).mounted);
  EXPECT_EQ(guest.tables_read, 0);
}

}  // namespace
}  // namespace connection
