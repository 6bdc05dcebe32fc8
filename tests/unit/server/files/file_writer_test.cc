// SPDX-License-Identifier: Apache-2.0
#include "files/file_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/errors.h"
#include "testing/files.h"
#include "testing/local_guest.h"
#include "testing/temporary_directory.h"

namespace files {
namespace {

namespace fs = std::filesystem;
using guest::Operation;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class FileWriterTest : public ::testing::Test {
 protected:
  void Put(const std::string& name, std::chrono::seconds age = std::chrono::seconds(0)) const {
    const std::string path = work + "/" + name;
    if (!fs::exists(fs::symlink_status(path))) std::ofstream(path) << name;
    timespec times[2] = {};
    ASSERT_EQ(clock_gettime(CLOCK_REALTIME, &times[0]), 0);
    times[0].tv_sec -= age.count();
    times[1] = times[0];
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
  }

  void Write(const std::string& name, const std::string& content) {
    paths::ResolvedPath target;
    target.host = target.guest = work + "/" + name;
    if (fs::exists(target.guest)) {
      target.attributes = guest.LStat(target.guest, {});
    } else {
      target.existing_parent = work;
    }
    const auto lock = writer.Lock(target, {});
    writer.Write(target, content, guest, {});
  }

  [[nodiscard]] std::string Get(const std::string& name) const {
    return testing_support::ReadFile(work + "/" + name);
  }
  [[nodiscard]] std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(work)) names.push_back(entry.path().filename());
    return names;
  }

  testing_support::TemporaryDirectory top_;
  const std::string work = top_.path().string();
  testing_support::LocalGuest guest;
  FileWriter writer;
};

constexpr auto kOld = kLeftoverAge + std::chrono::seconds(5);
constexpr auto kYoung = kLeftoverAge - std::chrono::seconds(60);

TEST_F(FileWriterTest, TakenNamesAreSkippedAndLeftAlone) {
  Put(".limactl-mcp-1");
  fs::create_symlink("elsewhere", work + "/.limactl-mcp-2");
  Write("file", "text");
  EXPECT_EQ(Get("file"), "text");
  EXPECT_EQ(Get(".limactl-mcp-1"), ".limactl-mcp-1");
  EXPECT_THAT(Names(), UnorderedElementsAre("file", ".limactl-mcp-1", ".limactl-mcp-2"));
}

TEST_F(FileWriterTest, WriteRemovesWhatAKilledServerLeftByItsAge) {
  Put(".limactl-mcp-1", kOld);
  Put(".limactl-mcp-2", kYoung);
  Put(".limactl-mcp-3", kOld);
  fs::create_directory(work + "/.limactl-mcp-4");
  Put(".limactl-mcp-4", kOld);
  fs::create_symlink("elsewhere", work + "/.limactl-mcp-5");
  Put(".limactl-mcp-5", kOld);
  Put(".limactl-mcp-7", kOld);  // after a free number
  Put(".limactl-mcp-notes", kOld);
  Write("file", "text");
  EXPECT_THAT(Names(),
              UnorderedElementsAre("file", ".limactl-mcp-2", ".limactl-mcp-4", ".limactl-mcp-5",
                                   ".limactl-mcp-7", ".limactl-mcp-notes"));
}

TEST_F(FileWriterTest, AgeIsComparedWithTheFileJustWritten) {
  Put(".limactl-mcp-1", -kOld);  // the file system's clock may differ from the guest's
  guest.set_hook([&](Operation operation, const std::string& path) {
    if (operation == Operation::kRename) Put(fs::path(path).filename(), -2 * kOld);
  });
  Write("file", "text");
  EXPECT_THAT(Names(), ElementsAre("file"));
}

TEST_F(FileWriterTest, WriteSucceedsIfALeftoverCannotBeRemoved) {
  Put(".limactl-mcp-1", kOld);
  guest.set_hook([](Operation operation, const std::string&) {
    if (operation == Operation::kUnlink) throw support::Stopped(support::StopReason::kDeadline);
  });
  Write("file", "text");
  EXPECT_EQ(Get("file"), "text");
}

TEST_F(FileWriterTest, FileThatIsGoneByNowDoesNotKeepOthersFromBeingRemoved) {
  Put(".limactl-mcp-1");
  Put(".limactl-mcp-2", kOld);
  guest.set_hook([&](Operation operation, const std::string&) {
    if (operation == Operation::kRename) fs::remove(work + "/.limactl-mcp-1");
  });
  Write("file", "text");
  EXPECT_THAT(Names(), ElementsAre("file"));
}

// A name may be another server's by the time that waiting ends.

TEST_F(FileWriterTest, FileThatMayBeAnotherServersIsNotRemoved) {
  guest.set_hook([&](Operation operation, const std::string& path) {
    if (operation != Operation::kOpen) return;
    Put(fs::path(path).filename());
    throw support::Stopped(support::StopReason::kDeadline);
  });
  EXPECT_THROW(Write("file", "text"), support::Stopped);
  EXPECT_THAT(Names(), ElementsAre(".limactl-mcp-1"));
}

TEST_F(FileWriterTest, NothingIsRemovedOnceTheRenameWasSent) {
  guest.set_hook([&](Operation operation, const std::string& path) {
    if (operation != Operation::kRename) return;
    fs::rename(path, work + "/file");
    Put(fs::path(path).filename());
    throw support::Stopped(support::StopReason::kDeadline);
  });
  EXPECT_THROW(Write("file", "text"), support::Error);
  EXPECT_THAT(Names(), UnorderedElementsAre("file", ".limactl-mcp-1"));
}

TEST_F(FileWriterTest, ConcurrentWritesInOneDirectoryDoNotMeet) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 50;
  Put(".limactl-mcp-1", kOld);
  std::atomic<int> created = 0;
  guest.set_hook([&](Operation operation, const std::string& path) {
    const bool is_temporary = path.find(kTemporaryPrefix) != std::string::npos;
    if (operation == Operation::kOpen && is_temporary) ++created;
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, name = std::to_string(i)] {
      for (int round = 0; round < kRounds; ++round) {
        const std::string content = name + " in round " + std::to_string(round);
        Write(name, content);
        EXPECT_EQ(Get(name), content);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Names().size(), std::size_t{kThreads}) << ::testing::PrintToString(Names());
  EXPECT_LE(created, kThreads * kRounds + 1) << "one name at a time";
}

paths::ResolvedPath At(const std::string& guest_path) {
  paths::ResolvedPath path;
  path.guest = guest_path;
  return path;
}

TEST_F(FileWriterTest, WaitForALockEndsByTheDeadlineAndByACancel) {
  const auto lock = writer.Lock(At("/a/x"), {});
  const auto other = writer.Lock(At("/b/x"), {});  // does not wait
  const auto soon = support::Context().WithTimeout(std::chrono::milliseconds(1));
  EXPECT_THROW((void)writer.Lock(At("/a/y"), soon), support::Stopped);
  support::StopSource source;
  std::thread stopper([&] { source.Stop(support::StopReason::kCancelled); });
  EXPECT_THROW((void)writer.Lock(At("/a/y"), source.context()), support::Stopped);
  stopper.join();
}

}  // namespace
}  // namespace files
