#include "tools/leftover_cleaner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/errors.h"
#include "testing/child_process.h"
#include "testing/eventually.h"
#include "testing/local_guest.h"
#include "testing/temporary_directory.h"
#include "tools/atomic_write.h"
#include "tools/file_writer.h"
#include "tools/temporary_name.h"

namespace tools {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using testing_support::ChildProcess;
using testing_support::Operation;

/// A command of this machine that waits; tests may end it as a guest's sshd would.
class LocalWaitingCommand final : public guest::WaitingCommand {
 public:
  LocalWaitingCommand(const std::string& command_line, const std::string& temporary_directory,
                      const std::string& working_directory, std::shared_ptr<guest::OutputSink> sink)
      : process_({.arguments = {"/bin/sh", "-c", command_line},
                  .environment = {{"TMPDIR", temporary_directory}},
                  .working_directory = working_directory,
                  .inherit_standard_error = true}),
        reader_([this, sink] {
          std::string bytes(1024, '\0');
          ssize_t got = 0;
          while ((got = read(process_.standard_output().get(), bytes.data(), bytes.size())) > 0) {
            sink->OnOutput(guest::OutputStream::kStandardOutput,
                           std::string_view(bytes).substr(0, static_cast<std::size_t>(got)));
          }
          sink->OnEnd();
        }) {}
  ~LocalWaitingCommand() override {
    End();
    process_.Wait(std::chrono::seconds(20));  // until it has cleaned up
    reader_.join();
  }
  [[nodiscard]] bool waiting() const override { return waiting_; }
  guest::CommandResult Finish(const std::string&, const support::Context&) override { return {}; }
  /// As when the line breaks, or the channel is needed otherwise.
  void End() {
    waiting_ = false;
    process_.standard_input().Close();
  }

 private:
  std::atomic<bool> waiting_ = true;
  ChildProcess process_;
  std::thread reader_;
};

class WatchedGuest final : public testing_support::LocalGuest {
 public:
  explicit WatchedGuest(std::string temporary_directory, std::string working_directory = "")
      : temporary_directory_(std::move(temporary_directory)),
        working_directory_(std::move(working_directory)) {}

  std::unique_ptr<guest::WaitingCommand> StartWaiting(
      guest::Command command, std::shared_ptr<guest::OutputSink> sink) override {
    ++starts;
    if (on_start) on_start();
    if (!has_channel) return nullptr;
    auto started = std::make_unique<LocalWaitingCommand>(
        is_silent ? "exec cat >/dev/null" : command.command_line, temporary_directory_,
        working_directory_, std::move(sink));
    last = started.get();
    return started;
  }

  bool has_channel = true;
  bool is_silent = false;
  std::function<void()> on_start;
  int starts = 0;
  LocalWaitingCommand* last = nullptr;

 private:
  std::string temporary_directory_;
  std::string working_directory_;
};

class LeftoverCleanerTest : public ::testing::Test {
 protected:
  LeftoverCleanerTest() {
    fs::create_directory(work);
    fs::create_directory(temporary);
  }

  static void Put(const std::string& path) {
    std::ofstream file(path);
    ASSERT_TRUE(file) << path;
  }
  static std::vector<std::string> Names(const fs::path& directory) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory))
      names.push_back(entry.path().filename());
    return names;
  }
  ResolvedPath Target(const std::string& name) {
    ResolvedPath target;
    target.host = target.guest = (work / name).string();
    if (fs::exists(work / name)) {
      target.attributes = guest->LStat(target.guest, {});
    } else {
      target.existing_parent = work.string();
    }
    return target;
  }

  testing_support::TemporaryDirectory top;
  const fs::path work = top.path() / "work";
  const fs::path temporary = top.path() / "tmp";
  std::shared_ptr<WatchedGuest> guest = std::make_shared<WatchedGuest>(temporary.string());
};

TEST_F(LeftoverCleanerTest, RemovesWhatItsConnectionLeftInDirectoriesOfAnyName) {
  std::vector<std::string> directories;
  for (const std::string name : {"plain", "two\nlines\n", " ", "-rf", "*", "it's \"$(id)\" `x`"}) {
    directories.push_back((work / name).string());
    fs::create_directory(directories.back());
    Put(directories.back() + "/.limactl-mcp-0123456789abcdef-1");  // another's
    Put(directories.back() + "/kept");
  }
  {
    LeftoverCleaner cleaner;
    for (const std::string& directory : directories) {
      const LeftoverCleaner::Name name = cleaner.MakeName(directory, *guest, {});
      EXPECT_TRUE(name.watched);
      EXPECT_TRUE(IsTemporaryName(name.path.substr(name.path.rfind('/') + 1))) << name.path;
      Put(name.path);
    }
    EXPECT_EQ(guest->starts, 1);
  }
  for (const std::string& directory : directories) {
    EXPECT_THAT(Names(directory), UnorderedElementsAre(".limactl-mcp-0123456789abcdef-1", "kept"))
        << directory;
  }
  EXPECT_THAT(Names(temporary), IsEmpty());
}

TEST_F(LeftoverCleanerTest, NotesEachDirectoryOnce) {
  LeftoverCleaner cleaner;
  const std::string first = cleaner.MakeName(work.string(), *guest, {}).path;
  guest->ResetCounts();
  EXPECT_NE(cleaner.MakeName(work.string(), *guest, {}).path, first);
  EXPECT_EQ(guest->total(), 0);
}

// systemd-tmpfiles, which clears /tmp of what is old, leaves such files.
TEST_F(LeftoverCleanerTest, NotesAreMarkedAsFilesThatStayHoweverOld) {
#ifndef __linux__
  GTEST_SKIP() << "open() makes no file with the sticky bit here";
#endif
  LeftoverCleaner cleaner;
  ASSERT_TRUE(cleaner.MakeName(work.string(), *guest, {}).watched);
  int notes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(temporary)) {
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(entry.status().permissions(),
              fs::perms::owner_read | fs::perms::owner_write | fs::perms::sticky_bit);
    ++notes;
  }
  EXPECT_EQ(notes, 1);
}

TEST_F(LeftoverCleanerTest, WithoutAChannelToSpareNothingIsWatchedForAWhile) {
  guest->has_channel = false;
  LeftoverCleaner cleaner;
  EXPECT_FALSE(cleaner.MakeName(work.string(), *guest, {}).watched);
  EXPECT_FALSE(cleaner.MakeName(work.string(), *guest, {}).watched);
  EXPECT_EQ(guest->starts, 1);
}

TEST_F(LeftoverCleanerTest, WithoutADirectoryForTemporaryFilesNothingIsWatched) {
  fs::remove(temporary);
  LeftoverCleaner cleaner;
  EXPECT_FALSE(cleaner.MakeName(work.string(), *guest, {}).watched);
}

TEST_F(LeftoverCleanerTest, WhereTheDirectoryForTemporaryFilesIsARelativeOneNothingIsWatched) {
  guest = std::make_shared<WatchedGuest>("tmp", top.path().string());
  LeftoverCleaner cleaner;
  EXPECT_FALSE(cleaner.MakeName(work.string(), *guest, {}).watched);
  EXPECT_EQ(guest->starts, 1);
  EXPECT_EQ(guest->count(Operation::kOpen), 0);
  EXPECT_THAT(Names(temporary), IsEmpty());
}

TEST_F(LeftoverCleanerTest, WhereNoNoteCanBeMadeNothingIsWatched) {
  guest->set_hook([](Operation operation, const std::string& path) {
    if (operation == Operation::kOpen) {
      throw guest::FileError(guest::FileErrorCode::kFailure, "open", path, "");
    }
  });
  LeftoverCleaner cleaner;
  const LeftoverCleaner::Name name = cleaner.MakeName(work.string(), *guest, {});
  EXPECT_FALSE(name.watched);
  EXPECT_TRUE(name.path.starts_with(work.string() + "/")) << name.path;
  EXPECT_EQ(guest->starts, 1);
}

TEST_F(LeftoverCleanerTest, WriteWhoseTemporaryFileGaveWayIsDoneAgain) {
  Put((work / "file").string());
  LeftoverCleaner cleaner;
  bool ended = false;
  guest->set_hook([&](Operation operation, const std::string& path) {
    if (operation != Operation::kRename || ended) return;
    ended = true;
    ASSERT_TRUE(cleaner.Watches({path, true})) << "the shell did not come up in time";
    guest->last->End();
    EXPECT_TRUE(testing_support::Eventually([&] { return !fs::exists(path); }));
  });
  LeftBehind left_behind;
  WriteWhole(Target("file"), "new", {cleaner, left_behind}, *guest, {});
  EXPECT_TRUE(ended);
  EXPECT_EQ(fs::file_size(work / "file"), 3U);
  EXPECT_THAT(Names(work), ElementsAre("file"));
}

TEST_F(LeftoverCleanerTest, StoppedWriterDoesNotWaitForANoteThatAnotherMakes) {
  LeftoverCleaner cleaner;
  std::promise<void> noting;
  std::promise<void> done;
  guest->set_hook([&](Operation operation, const std::string&) {
    if (operation != Operation::kOpen) return;
    noting.set_value();
    done.get_future().wait_for(std::chrono::seconds(20));
  });
  std::thread first([&] { EXPECT_TRUE(cleaner.MakeName(work.string(), *guest, {}).watched); });
  EXPECT_EQ(noting.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  support::StopSource source;
  source.Stop(support::StopReason::kCancelled);
  EXPECT_THROW((void)cleaner.MakeName(work.string(), *guest, source.context()), support::Stopped);
  done.set_value();
  first.join();
}

TEST_F(LeftoverCleanerTest, StoppedWriterDoesNotWaitForTheShellAndTheNextOneStartsAnother) {
  LeftoverCleaner cleaner;
  support::StopSource source;
  guest->is_silent = true;
  guest->on_start = [&] { source.Stop(support::StopReason::kCancelled); };
  const auto begin = support::Clock::now();
  EXPECT_THROW((void)cleaner.MakeName(work.string(), *guest, source.context()), support::Stopped);
  EXPECT_LT(support::Clock::now() - begin, LeftoverCleaner::kStartPatience);
  guest->is_silent = false;
  EXPECT_TRUE(cleaner.MakeName(work.string(), *guest, {}).watched);
  EXPECT_EQ(guest->starts, 2);
}

TEST_F(LeftoverCleanerTest, AShellThatStaysSilentIsNotStartedAgainForAWhile) {
  LeftoverCleaner cleaner;
  guest->is_silent = true;
  EXPECT_FALSE(cleaner.MakeName(work.string(), *guest, {}).watched);
  guest->is_silent = false;
  EXPECT_FALSE(cleaner.MakeName(work.string(), *guest, {}).watched);
  EXPECT_EQ(guest->starts, 1);
}

TEST_F(LeftoverCleanerTest, WriterThatIsDoneDoesNotWaitForANoteThatAnotherMakes) {
  LeftoverCleaner cleaner;
  std::promise<void> noting;
  std::promise<void> done;
  std::atomic<bool> noted = false;
  guest->set_hook([&](Operation operation, const std::string&) {
    if (operation != Operation::kOpen) return;
    noting.set_value();
    done.get_future().wait_for(std::chrono::seconds(20));
    noted = true;
  });
  std::thread first([&] { EXPECT_TRUE(cleaner.MakeName(work.string(), *guest, {}).watched); });
  EXPECT_EQ(noting.get_future().wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_TRUE(cleaner.IsFirstWriteIn(work.string()));
  EXPECT_FALSE(cleaner.Watches({"/other/.limactl-mcp-0123456789abcdef-1", true}));
  EXPECT_FALSE(noted);
  done.set_value();
  first.join();
}

// Leftovers of connections that nobody watched over.

void MakeOld(const std::string& path, std::chrono::seconds age) {
  timeval now{};
  gettimeofday(&now, nullptr);
  now.tv_sec -= age.count();
  const timeval times[2] = {now, now};
  ASSERT_EQ(utimes(path.c_str(), times), 0);
}

TEST_F(LeftoverCleanerTest, FirstWriteInADirectorySweepsOldLeftovers) {
  const std::string old_ones[] = {".limactl-mcp-0123456789abcdef",
                                  ".limactl-mcp-0123456789abcdef-12"};
  const std::string others[] = {".limactl-mcp-notes", ".limactl-mcp-0123456789abcdef.txt",
                                "limactl-mcp-0123456789abcdef"};
  for (const std::string& name : old_ones) {
    Put((work / name).string());
    MakeOld((work / name).string(), kLeftoverAge + std::chrono::seconds(5));
  }
  for (const std::string& name : others) {
    Put((work / name).string());
    MakeOld((work / name).string(), kLeftoverAge + std::chrono::seconds(5));
  }
  const std::string young = (work / ".limactl-mcp-fedcba9876543210").string();
  Put(young);
  MakeOld(young, kLeftoverAge - std::chrono::seconds(60));
  FileWriter writer;
  LeftBehind left_behind;
  writer.Write(Target("file"), "new", left_behind, guest, {});
  EXPECT_THAT(Names(work), UnorderedElementsAre("file", others[0], others[1], others[2],
                                                ".limactl-mcp-fedcba9876543210"));
  guest->ResetCounts();
  writer.Write(Target("other"), "new", left_behind, guest, {});
  EXPECT_EQ(guest->count(Operation::kList), 0);
}

TEST_F(LeftoverCleanerTest, SweepThatFailsIsNoFailureOfTheWrite) {
  guest->set_hook([](Operation operation, const std::string&) {
    if (operation == Operation::kList) throw support::ConnectionLost("lost", false);
  });
  FileWriter writer;
  LeftBehind left_behind;
  writer.Write(Target("file"), "new", left_behind, guest, {});
  EXPECT_EQ(guest->count(Operation::kList), 1);
  EXPECT_EQ(fs::file_size(work / "file"), 3U);
}

TEST(TemporaryName, IsThePrefixATokenAndPerhapsANumber) {
  EXPECT_TRUE(IsTemporaryName(std::string(kTemporaryPrefix) + RandomToken()));
  EXPECT_TRUE(IsTemporaryName(".limactl-mcp-0123456789abcdef-0"));
  for (const char* name :
       {"", ".limactl-mcp-", ".limactl-mcp-0123456789abcde", ".limactl-mcp-0123456789abcdeg",
        ".limactl-mcp-0123456789abcdef-", ".limactl-mcp-0123456789abcdef-x",
        ".limactl-mcp-0123456789ABCDEF", "x.limactl-mcp-0123456789abcdef"}) {
    EXPECT_FALSE(IsTemporaryName(name)) << name;
  }
  EXPECT_NE(RandomToken(), RandomToken());
}

}  // namespace
}  // namespace tools
