// Faults inside the guest while a server is connected to it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vm/fixture.h"

namespace vm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// sshd.

class SshdInGuest : public FaultTest {
 protected:
  void SetUp() override {
    FaultTest::SetUp();
    directory_ = NewDirectory("writable");
    Serve();
    EXPECT_EQ(Run({"true"}, directory_).at("exit_code"), 0);
  }

  std::int64_t StartCommand() {
    const std::int64_t id = client().SendRequest(
        "tools/call", {{"name", "run_shell_command"},
                       {"arguments",
                        {{"command", {"bash", "-c", "touch started; sleep 8642 & sleep 8642"}},
                         {"directory", directory_.string()}}}});
    Eventually("the command runs", [this] { return fs::exists(directory_ / "started"); });
    fs::remove(directory_ / "started");
    return id;
  }

  /// The call ends, says what became of it, and leaves nothing behind in the guest.
  void ExpectLost(std::int64_t id) {
    const json result = client().WaitForResponse(id, kGuestTimeout).at("result");
    EXPECT_THAT(result.dump(), HasSubstr("may have run"));
    // sshd itself may not be back yet.
    Eventually("the command is gone", [this] {
      return machine().TryShell("pgrep -x -f 'sleep 8642'; test $? = 1").exit_code == 0;
    });
  }

  fs::path directory_;
};

TEST_F(SshdInGuest, MayLoseTheProcessesOfItsSessions) {
  const std::int64_t id = StartCommand();
  // Ends the connection that carries it, too.
  (void)machine().TryShell("sudo -n pkill -KILL -f '^sshd(-session)?: '\"$(id -un)\"");
  ExpectLost(id);
  ExpectAllToolsWork(directory_, directory_);
}

TEST_F(SshdInGuest, MayBeKilledAndStartedAgain) {
  const std::int64_t id = StartCommand();
  (void)machine().TryShell(
      "sudo -n systemd-run --quiet --collect sh -c 'pkill -KILL sshd; sleep 1; systemctl restart "
      "ssh || systemctl restart sshd'");
  ExpectLost(id);
  ExpectAllToolsWork(directory_, directory_);
}

// File systems.

class FileSystemInGuest : public FaultTest, public testing::WithParamInterface<std::string> {
 protected:
  static constexpr const char* kDirectory = "/mnt/limactl-mcp-small";

  /// A file system of 4 MiB of the guest's own, which belongs to Lima's user.
  void SetUp() override {
    FaultTest::SetUp();
    const std::string user = machine().Shell("id -u");
    machine().ShellAsRoot(
        "mkdir " + std::string(kDirectory) +
        (GetParam() == "tmpfs" ? "\nmount -t tmpfs -o size=4M tmpfs "
                               : "\ntruncate -s 4M /var/tmp/limactl-mcp-small.img"
                                 "\nmkfs.ext4 -q -m 0 /var/tmp/limactl-mcp-small.img"
                                 "\nmount -o loop /var/tmp/limactl-mcp-small.img ") +
        kDirectory + "\nchown " + user.substr(0, user.find('\n')) + " " + kDirectory);
    Serve({"--allow-path", std::string(kDirectory) + ":w"});
  }

  const fs::path file_ = fs::path(kDirectory) / "file.txt";
  const fs::path filler_ = fs::path(kDirectory) / "filler";
};

TEST_P(FileSystemInGuest, KeepsTheOldFileWhenItIsFull) {
  Write(file_, "kept");
  const json filled = Run({"sh", "-c", "cat /dev/zero >filler"}, kDirectory);
  EXPECT_THAT(filled.at("stderr").get<std::string>(), HasSubstr("No space left on device"));
  const std::string large(200'000, 'x');
  EXPECT_THAT(Refusal("write_file", {{"path", file_}, {"content", large}}),
              HasSubstr("no space left"));
  EXPECT_EQ(Read(file_), "kept");
  // Nor is half of the new one left beside it.
  EXPECT_EQ(Run({"sh", "-c", "ls -A | grep -v lost+found"}, kDirectory).at("stdout"),
            "file.txt\nfiller\n");
  Run({"rm", "filler"}, kDirectory);
  Write(file_, large);
  EXPECT_EQ(Read(file_), large);
}

TEST_P(FileSystemInGuest, IsReadButNotWrittenOnceItIsReadOnly) {
  Write(file_, "kept");
  machine().ShellAsRoot("mount -o remount,ro " + std::string(kDirectory));
  EXPECT_THAT(Refusal("write_file", {{"path", file_}, {"content", "lost"}}),
              HasSubstr("read-only"));
  EXPECT_THAT(Refusal("write_file", {{"path", file_.string() + ".new"}, {"content", "lost"}}),
              HasSubstr("read-only"));
  EXPECT_EQ(Read(file_), "kept");
  machine().ShellAsRoot("mount -o remount,rw " + std::string(kDirectory));
  Write(file_, "new");
  EXPECT_EQ(Read(file_), "new");
}

INSTANTIATE_TEST_SUITE_P(Types, FileSystemInGuest, testing::Values("tmpfs", "ext4"),
                         [](const auto& test) { return test.param; });

// Programs.

using ProgramsInGuest = FaultTest;

TEST_F(ProgramsInGuest, SearchWorksWithoutGitAndSaysSo) {
  const fs::path directory = NewDirectory("writable");
  WriteOnHost(directory / "one.txt", "first\nsecond line\n");
  const json search = {{"pattern", "sec[aeo]nd"}, {"path", directory.string()}};
  Serve();
  const json with_git = Call("search_file_content", search);
  machine().ShellAsRoot("mv /usr/bin/git /usr/bin/git.away");
  const json without_git = Call("search_file_content", search);
  EXPECT_EQ(without_git.at("structuredContent"), with_git.at("structuredContent"));
  EXPECT_THAT(without_git.at("content").dump(), HasSubstr("no git"));
  EXPECT_THAT(with_git.at("content").dump(), Not(HasSubstr("no git")));
}

}  // namespace
}  // namespace vm
