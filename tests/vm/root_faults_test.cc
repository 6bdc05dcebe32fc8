// Roots of a connected server that the guest does not have mounted.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vm/fixture.h"

namespace vm {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RootInGuest : public FaultTest {
 protected:
  /// Takes the mount away, in the guest alone: what is left there is an empty directory.
  void Unmount(const std::string& name) {
    machine().ShellAsRoot("umount '" + machine().MountPoint(name).string() + "'");
  }
  void Mount(const std::string& name) {
    machine().ShellAsRoot("mount '" + machine().MountPoint(name).string() + "'");
  }

  /// What stands in the directory beneath the mount.
  std::string Beneath(const std::string& name) {
    return machine().ShellAsRoot("ls -A '" + machine().MountPoint(name).string() + "'");
  }

  void ExpectNotMounted(const std::string& name, const fs::path& directory) {
    for (const auto& [tool, arguments] : AllTools(directory)) {
      EXPECT_THAT(Refusal(tool, arguments), HasSubstr("not mounted")) << tool;
    }
    EXPECT_EQ(Beneath(name), "");
  }
};

TEST_F(RootInGuest, IsRefusedWhileItIsNotMountedAndWorksAsSoonAsItIs) {
  for (const std::string name : {"writable", "mapped"}) {
    SCOPED_TRACE(name);
    const fs::path directory = NewDirectory(name);
    WriteOnHost(directory / "file.txt", "text\n");
    Unmount(name);
    Serve();
    ExpectNotMounted(name, directory);
    Mount(name);
    fs::remove(directory / "file.txt");
    ExpectAllToolsWork(directory, machine().MountPoint(name) / directory.filename());
  }
}

TEST_F(RootInGuest, IsRefusedOnceItWasUnmountedUnderAConnectedServer) {
  const fs::path directory = NewDirectory("writable");
  WriteOnHost(directory / "file.txt", "text\n");
  Serve();
  EXPECT_EQ(Read(directory / "file.txt"), "text\n");
  Unmount("writable");
  ExpectNotMounted("writable", directory);
  Mount("writable");
  fs::remove(directory / "file.txt");
  ExpectAllToolsWork(directory, directory);
}

TEST_F(RootInGuest, IsNamedByDoctorWhileItIsNotMounted) {
  Unmount("writable");
  const testing_support::ProcessResult result = testing_support::RunProcess(
      {.arguments = {"limactl", "mcp", "doctor", machine().name()}}, "", kBootTimeout);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("FAIL mounted        not mounted in the guest: " +
                                       machine().MountPoint("writable").string() + " ("));
  EXPECT_EQ(Beneath("writable"), "");
}

TEST_F(RootInGuest, DoesNotTakeTheOtherRootsAlong) {
  const fs::path directory = NewDirectory("mapped");
  Unmount("writable");
  Serve();
  ExpectAllToolsWork(directory, machine().MountPoint("mapped") / directory.filename());
}

}  // namespace
}  // namespace vm
