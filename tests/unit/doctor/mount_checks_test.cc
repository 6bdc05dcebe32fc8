#include "doctor/mount_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "files/temporary_file.h"
#include "guest/file_error.h"
#include "lima/mount_tag.h"
#include "support/errors.h"
#include "testing/local_guest.h"
#include "testing/temporary_directory.h"
#include "unit/paths/mount_guest.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_support::LocalGuest;
using testing_support::Operation;

class MountChecksTest : public ::testing::Test {
 protected:
  std::string MakeDirectory(const std::string& name) {
    fs::create_directories(directory.path() / name);
    return directory.path() / name;
  }

  void AddMount(const std::string& name, bool writable) {
    lima::Mount mount;
    mount.location = mount.mount_point = MakeDirectory(name);
    mount.writable = writable;
    mounts.push_back(mount);
    mounted.states.emplace_back();
  }

  Finding Write() { return CheckWriteAccess(mounts, mounted, guest, {}); }

  testing_support::TemporaryDirectory directory;
  LocalGuest guest;
  std::vector<lima::Mount> mounts;
  MountedState mounted;
};

TEST_F(MountChecksTest, LocationsAreListedWithTheirRightsAndPlaces) {
  const std::string one = MakeDirectory("one");
  const std::string two = MakeDirectory("two");
  const Finding finding =
      CheckMounts({{one, one, true, false}, {two, "/mnt", false, false}}, "vm", true);
  EXPECT_EQ(finding.mark, Mark::kPassed);
  EXPECT_EQ(finding.text, one + " (writable), " + two + " (read-only) at /mnt");
}

TEST_F(MountChecksTest, NoMountIsAWarning) {
  EXPECT_EQ(CheckMounts({}, "vm", true).mark, Mark::kWarning);
}

TEST_F(MountChecksTest, LocationThatIsNoDirectoryHereFails) {
  const std::vector<lima::MountLocation> locations = {{MakeDirectory("one"), {}, true, false},
                                                      {"/no/such", {}, true, false}};
  const Finding finding = CheckMounts(locations, "vm", true);
  EXPECT_EQ(finding.mark, Mark::kFailed);
  EXPECT_THAT(finding.text, HasSubstr("no directory on this host: /no/such"));
  const Finding stopped = CheckMounts(locations, "vm", false);
  EXPECT_EQ(stopped.mark, Mark::kWarning);
  EXPECT_EQ(stopped.text, finding.text);
  EXPECT_THAT(stopped.advice, HasSubstr("limactl start vm"));

  const std::string file = directory.path() / "file";
  std::ofstream(file) << "no directory";
  EXPECT_EQ(CheckMounts({{file, {}, true, false}}, "vm", false).mark, Mark::kFailed);
}

TEST_F(MountChecksTest, MountThatMayBeOldIsAWarningThatNamesIt) {
  const std::string one = MakeDirectory("one");
  const std::string two = MakeDirectory("two");
  const Finding finding =
      CheckMounts({{one, one, true, false}, {two, two, false, true}}, "vm", true);
  EXPECT_EQ(finding.mark, Mark::kWarning);
  EXPECT_THAT(finding.text, HasSubstr("fscache): " + two));
  EXPECT_THAT(finding.advice, HasSubstr("limactl edit vm"));
}

TEST_F(MountChecksTest, MountsThatTheGuestDoesNotHaveFail) {
  AddMount("one", true);
  AddMount("two", true);
  EXPECT_EQ(CheckMounted(mounts, mounted, "vm").mark, Mark::kPassed);
  mounted.states[1].mounted = false;
  const Finding finding = CheckMounted(mounts, mounted, "vm");
  EXPECT_EQ(finding.mark, Mark::kFailed);
  EXPECT_EQ(finding.text, "not mounted in the guest: " + mounts[1].mount_point);
}

TEST_F(MountChecksTest, MountThatTheGuestSeesOldContentsOfIsAWarningThatNamesIt) {
  AddMount("one", true);
  AddMount("two", false);
  mounted.states[1].reads_may_be_stale = true;
  const Finding finding = CheckMounted(mounts, mounted, "vm");
  EXPECT_EQ(finding.mark, Mark::kWarning);
  EXPECT_THAT(finding.text,
              AllOf(HasSubstr(mounts[1].mount_point), Not(HasSubstr(mounts[0].mount_point))));
  EXPECT_THAT(finding.advice, HasSubstr("limactl edit vm"));
}

TEST_F(MountChecksTest, WhyNoMountsAreAskedForIsSaid) {
  EXPECT_EQ(CheckMounted({}, AskMounted({}, {}, guest, {}), "vm").text, "there are no mounts");
}

TEST_F(MountChecksTest, MacGuestIsAskedByTheLinksToItsSharedVolume) {
  AddMount("one", true);
  AddMount("two", true);
  paths::MountGuest mac;
  mac.links[mounts[1].mount_point] = "/Volumes/My Shared Files/" + lima::MountTag(mounts[1]);
  lima::InstanceConfiguration configuration;
  configuration.os = "Darwin";
  const Finding finding = CheckMounted(mounts, AskMounted(configuration, mounts, mac, {}), "vm");
  EXPECT_EQ(finding.text, "not mounted in the guest: " + mounts[0].mount_point);
  EXPECT_EQ(mac.tables_read, 0);
}

TEST_F(MountChecksTest, GuestWithoutAMountTableIsSaidNotToTell) {
  AddMount("one", true);
  paths::MountGuest other;
  EXPECT_EQ(AskMounted({}, mounts, other, {}).why, "not known: the guest has no mountinfo");
  other.Show(paths::Line(mounts[0].mount_point, "9p", lima::MountTag(mounts[0])));
  const MountedState known = AskMounted({}, mounts, other, {});
  ASSERT_EQ(known.states.size(), 1U);
  EXPECT_TRUE(known.states[0].mounted);
}

TEST_F(MountChecksTest, WhatCannotBeToldOfMountsIsSaid) {
  AddMount("one", true);
  const Finding finding = CheckMounted(mounts, {{}, "nobody knows"}, "vm");
  EXPECT_EQ(finding.mark, Mark::kPassed);
  EXPECT_EQ(finding.text, "nobody knows");
}

TEST_F(MountChecksTest, WritesToEachWritableMountAndLeavesNothing) {
  AddMount("one", true);
  AddMount("two", false);
  AddMount("three", true);
  std::vector<std::string> opened;
  guest.set_hook([&](Operation operation, const std::string& path) {
    if (operation == Operation::kOpen) opened.push_back(path);
  });
  const Finding finding = Write();
  EXPECT_EQ(finding.mark, Mark::kPassed);
  EXPECT_THAT(finding.text, AllOf(HasSubstr(mounts[0].location), HasSubstr(mounts[2].location),
                                  Not(HasSubstr(mounts[1].location))));
  ASSERT_EQ(opened.size(), 2U);
  EXPECT_EQ(fs::path(opened[0]).filename(), std::string(files::kTemporaryPrefix) + "1")
      << "a later write removes it, should this one be interrupted";
  for (const lima::Mount& mount : mounts) EXPECT_TRUE(fs::is_empty(mount.location));
}

TEST_F(MountChecksTest, DoesNotWriteBeneathAMountThatIsMissing) {
  AddMount("one", true);
  mounted.states[0].mounted = false;
  EXPECT_EQ(Write().mark, Mark::kWarning);
  EXPECT_EQ(guest.count(Operation::kOpen), 0);
}

TEST_F(MountChecksTest, WritesWhereItIsNotKnownWhetherTheMountIsThere) {
  AddMount("one", true);
  mounted.states.clear();
  EXPECT_EQ(Write().mark, Mark::kPassed);
}

TEST_F(MountChecksTest, MountThatCannotBeWrittenToFailsAndTheOthersAreTriedToo) {
  AddMount("one", true);
  AddMount("two", true);
  fs::remove(mounts[0].location);
  const Finding finding = Write();
  EXPECT_EQ(finding.mark, Mark::kFailed);
  EXPECT_THAT(finding.text, AllOf(HasSubstr(mounts[0].location + ": "),
                                  Not(HasSubstr(mounts[1].location + ": "))));
  EXPECT_EQ(guest.count(Operation::kUnlink), 1);
}

TEST_F(MountChecksTest, FileIsRemovedAlsoWhereNothingCanBeWrittenToIt) {
  AddMount("one", true);
  guest.set_hook([&](Operation operation, const std::string& path) {
    if (operation != Operation::kFileWrite) return;
    throw guest::FileError(guest::FileErrorCode::kFailure, "write", path, "the disk is full");
  });
  const Finding finding = Write();
  EXPECT_EQ(finding.mark, Mark::kFailed);
  EXPECT_THAT(finding.text, HasSubstr("the disk is full"));
  EXPECT_TRUE(fs::is_empty(mounts[0].location));
}

TEST_F(MountChecksTest, FileThatCannotBeRemovedIsTold) {
  AddMount("one", true);
  guest.set_hook([&](Operation operation, const std::string& path) {
    if (operation != Operation::kUnlink) return;
    throw guest::FileError(guest::FileErrorCode::kPermissionDenied, "remove", path, "");
  });
  EXPECT_THAT(Write().text, HasSubstr(".limactl-mcp-"));
}

TEST_F(MountChecksTest, NothingWritableIsAWarning) {
  AddMount("one", false);
  EXPECT_EQ(Write().mark, Mark::kWarning);
}

TEST_F(MountChecksTest, LostLineIsNoFinding) {
  AddMount("one", true);
  guest.set_hook([](Operation, const std::string&) {
    throw support::ConnectionLost("the line broke", false);
  });
  EXPECT_THROW(Write(), support::ConnectionLost);
}

}  // namespace
}  // namespace doctor
