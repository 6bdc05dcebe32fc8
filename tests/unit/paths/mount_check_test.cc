// Which check a guest gets: MakeMountCheck, and that of macOS.

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "lima/mounts.h"
#include "paths/mount_watch.h"
#include "support/errors.h"
#include "unit/paths/mount_guest.h"

namespace paths {
namespace {

using ::testing::HasSubstr;

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

TEST_F(MakeMountCheckTest, OnThisVeryMachineTheSameIsAskedAndNothingRefused) {
  if (!std::filesystem::exists(kBootIdFile)) GTEST_SKIP() << "this system has no " << kBootIdFile;
  std::ifstream file(kBootIdFile);
  std::getline(file, guest.boot_id);
  const auto check = Make();
  ASSERT_NE(check, nullptr);
  guest.round_trips = 0;
  EXPECT_TRUE(check->Ask(0, guest, {}).mounted);
  EXPECT_EQ(guest.round_trips, 1);
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

TEST_F(MakeMountCheckTest, LostLineOrAStoppedCallIsNoAnswer) {
  guest.on_run = [] { throw support::ConnectionLost("the line broke", false); };
  EXPECT_THROW(Make(), support::ConnectionLost);
  guest.on_run = [] { throw support::Stopped(support::StopReason::kDeadline); };
  EXPECT_THROW(Make(), support::Stopped);
}

TEST_F(MakeMountCheckTest, MountPointsOfMacGuestsAreLinksToTheSharedVolume) {
  configuration.os = "Darwin";
  const auto check = Make();
  ASSERT_NE(check, nullptr);
  EXPECT_FALSE(check->Ask(0, guest, {}).mounted);
  const std::string shared = "/Volumes/My Shared Files/" + lima::MountTag(mount);
  guest.links["/work"] = shared;
  EXPECT_TRUE(check->Ask(0, guest, {}).mounted);
  EXPECT_FALSE(check->LastKnown(0).mounted) << "it is asked for each time";
  EXPECT_FALSE(check->LastKnown(0).reads_may_be_stale);
  guest.missing.insert(shared);
  EXPECT_FALSE(check->Ask(0, guest, {}).mounted);
  guest.links["/work"] = "/Volumes/My Shared Files/lima-0000000000000000";
  EXPECT_FALSE(check->Ask(0, guest, {}).mounted);
  EXPECT_EQ(guest.tables_read, 0);
}

}  // namespace
}  // namespace paths
