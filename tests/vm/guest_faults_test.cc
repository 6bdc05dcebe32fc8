// Faults inside the guest while a server is connected to it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vm/fixture.h"

namespace vm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

// sshd.

class SshdFault : public FaultTest {
 protected:
  /// Breaks sshd by `script` while a command runs. The call must end, report that, and leave
  /// nothing behind; then all tools must work again.
  void ExpectRecovery(const std::string& script) {
    const fs::path directory = NewDirectory("writable");
    Serve();
    const std::int64_t id = BeginCommand("touch started; sleep 8642 & sleep 8642", directory);
    Eventually("the command runs", [&] { return fs::exists(directory / "started"); });
    fs::remove(directory / "started");
    (void)machine().TryShell(script);
    const json result = client().WaitForResponse(id, kGuestTimeout).at("result");
    EXPECT_THAT(result.dump(), HasSubstr("may have run"));
    // sshd itself may not be back yet.
    Eventually("the command is gone", [this] {
      return machine().TryShell("pgrep -x -f 'sleep 8642'; test $? = 1").exit_code == 0;
    });
    ExpectAllToolsWork(directory, directory);
  }
};

TEST_F(SshdFault, SessionsKilled) {
  ExpectRecovery("sudo -n pkill -KILL -f '^sshd(-session)?: '\"$(id -un)\"");
}

TEST_F(SshdFault, KilledAndRestarted) {
  ExpectRecovery(
      "sudo -n systemd-run --quiet --collect sh -c 'pkill -KILL sshd; sleep 1; systemctl restart "
      "ssh || systemctl restart sshd'");
}

// File systems.

class FileSystemFault : public FaultTest {
 protected:
  static constexpr const char* kDirectory = "/mnt/limactl-mcp-small";

  /// Mounts a file system of 4 MiB that belongs to Lima's user.
  void SetUp() override {
    FaultTest::SetUp();
    const std::string user = machine().Shell("id -u");
    machine().ShellAsRoot("mkdir " + std::string(kDirectory) +
                          "\ntruncate -s 4M /var/tmp/limactl-mcp-small.img"
                          "\nmkfs.ext4 -q -m 0 /var/tmp/limactl-mcp-small.img"
                          "\nmount -o loop /var/tmp/limactl-mcp-small.img " +
                          kDirectory + "\nchown " + user.substr(0, user.find('\n')) + " " +
                          kDirectory);
    Serve({"--allow-path", std::string(kDirectory) + ":w"});
    Write(file_, "kept");
  }

  const fs::path file_ = fs::path(kDirectory) / "file.txt";
};

TEST_F(FileSystemFault, AFullOneKeepsTheOldFile) {
  const json filled = Run({"sh", "-c", "cat /dev/zero >filler"}, kDirectory);
  EXPECT_THAT(filled.at("stderr").get<std::string>(), HasSubstr("No space left on device"));
  const std::string large(200'000, 'x');
  EXPECT_THAT(Refusal("write_file", {{"path", file_}, {"content", large}}),
              HasSubstr("no space left"));
  EXPECT_EQ(Read(file_), "kept");
  // No temporary file is left.
  EXPECT_EQ(Run({"sh", "-c", "ls -A | grep -v lost+found"}, kDirectory).at("stdout"),
            "file.txt\nfiller\n");
  Run({"rm", "filler"}, kDirectory);
  Write(file_, large);
  EXPECT_EQ(Read(file_), large);
}

TEST_F(FileSystemFault, AReadOnlyOneIsReadButNotWritten) {
  machine().ShellAsRoot("mount -o remount,ro " + std::string(kDirectory));
  for (const std::string& path : {file_.string(), file_.string() + ".new"}) {
    EXPECT_THAT(Refusal("write_file", {{"path", path}, {"content", "lost"}}),
                HasSubstr("read-only"));
  }
  EXPECT_EQ(Read(file_), "kept");
  machine().ShellAsRoot("mount -o remount,rw " + std::string(kDirectory));
  Write(file_, "new");
  EXPECT_EQ(Read(file_), "new");
}

// Mounts that the guest has lost.

class MountFault : public FaultTest {
 protected:
  /// Unmounts in the guest. What is left at the mount point is an empty directory.
  void Unmount(const std::string& name) {
    machine().ShellAsRoot("umount '" + machine().MountPoint(name).string() + "'");
  }
  void Mount(const std::string& name) {
    machine().ShellAsRoot("mount '" + machine().MountPoint(name).string() + "'");
  }

  void ExpectRefusedUntilMounted(const std::string& name, const fs::path& directory) {
    for (const auto& [tool, arguments] : CallsOfEveryTool(directory, "file.txt")) {
      EXPECT_THAT(Refusal(tool, arguments), HasSubstr("not mounted")) << tool;
    }
    EXPECT_EQ(machine().ShellAsRoot("ls -A '" + machine().MountPoint(name).string() + "'"), "");
    Mount(name);
    fs::remove(directory / "file.txt");
    ExpectAllToolsWork(directory, machine().MountPoint(name) / directory.filename());
  }
};

TEST_F(MountFault, ARootThatIsNotMountedIsRefused) {
  for (const std::string name : {"writable", "mapped"}) {
    SCOPED_TRACE(name);
    const fs::path directory = NewDirectory(name);
    WriteFile(directory / "file.txt", "text\n");
    Unmount(name);
    Serve();
    ExpectRefusedUntilMounted(name, directory);
  }
}

TEST_F(MountFault, ARootUnmountedUnderAConnectedServerIsRefused) {
  const fs::path directory = NewDirectory("writable");
  WriteFile(directory / "file.txt", "text\n");
  Serve();
  EXPECT_EQ(Read(directory / "file.txt"), "text\n");
  Unmount("writable");
  // 9p cannot vanish by itself, so only a write checks it again.
  EXPECT_THAT(Refusal("write_file", {{"path", directory / "file.txt"}, {"content", "lost"}}),
              HasSubstr("not mounted"));
  ExpectRefusedUntilMounted("writable", directory);
}

TEST_F(MountFault, DoctorNamesARootThatIsNotMountedAndOtherRootsWork) {
  Unmount("writable");
  const testing_support::ProcessResult result = testing_support::RunProcess(
      {.arguments = {"limactl", "mcp", "doctor", machine().name()}}, "", kBootTimeout);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, testing::ContainsRegex("FAIL +mounted .*not mounted"));
  const fs::path directory = NewDirectory("mapped");
  Serve();
  ExpectAllToolsWork(directory, machine().MountPoint("mapped") / directory.filename());
}

}  // namespace
}  // namespace vm
