// What write_file leaves in the guest if something fails or changes meanwhile.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "unit/tools/file_tool_fixture.h"

namespace tools {
namespace {

namespace fs = std::filesystem;
using guest::FileErrorCode;
using guest::Operation;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing_support::Name;

class WriteFile : public FileToolTest {
 protected:
  WriteFile() : FileToolTest("write_file"), umask_(umask(022)) {}
  ~WriteFile() override { umask(umask_); }

  void Write(const std::string& path, const std::string& content) {
    const mcp::ToolResult result = Call({{"path", path}, {"content", content}});
    EXPECT_EQ(Structured(result), nlohmann::json::object());
    EXPECT_TRUE(result.more_content.empty()) << result.more_content.front();
  }
  std::string WriteError(const std::string& path, const std::string& content = "new") {
    return Error({{"path", path}, {"content", content}});
  }
  [[nodiscard]] ino_t Inode(const std::string& name) const { return Status(work / name).st_ino; }
  [[nodiscard]] mode_t Mode(const std::string& name) const {
    return Status(work / name).st_mode & 07777U;
  }

 private:
  mode_t umask_;
};

TEST_F(WriteFile, PermissionsAreSetOnlyWhereTheGuestTakesSomeAway) {
  struct Row {
    mode_t umask, mode;
    int lstats, sets;
  };
  for (const Row& row : {Row{022, 0644, 2, 0}, Row{022, 0644, 1, 0}, Row{022, 0755, 2, 0},
                         Row{022, 0666, 2, 1}, Row{022, 0666, 2, 1}, Row{0, 0666, 2, 0}}) {
    umask(row.umask);
    Put("file", "old");
    fs::permissions(work / "file", fs::perms(row.mode));
    guest->ResetCounts();
    Write("/host/work/file", "new");
    EXPECT_EQ(Mode("file"), row.mode);
    EXPECT_EQ(guest->count(Operation::kLStat), row.lstats);
    EXPECT_EQ(guest->count(Operation::kSetAttributes), row.sets);
  }
}

TEST_F(WriteFile, FileInADirectoryThatTakesNoNewFileIsWrittenInPlaceAndTheResultSaysSo) {
  Put("file", "a longer old text");
  const ino_t before = Inode("file");
  RefuseNewFiles();
  const mcp::ToolResult result = Call({{"path", "/host/work/file"}, {"content", "new"}});
  EXPECT_EQ(Structured(result), nlohmann::json::object());
  ASSERT_EQ(result.more_content.size(), 1U);
  EXPECT_EQ(result.more_content[0].at("text"),
            "/host/work/file was written in place, not atomically: no file can be created beside "
            "it");
  EXPECT_EQ(Get("file"), "new");
  EXPECT_EQ(Inode("file"), before);
  EXPECT_EQ(WriteError("/host/work/new"), "permission denied");
}

TEST_F(WriteFile, ReplacementCharactersAreComparedWithAFileOfAnySize) {
  constexpr std::uintmax_t kMoreThanIsReadWhole = (32U << 20U) + 1;
  Put("large", "caf\xE9!");
  fs::resize_file(work / "large", kMoreThanIsReadWhole);
  EXPECT_THAT(WriteError("/host/work/large", "\uFFFD"), HasSubstr("not UTF-8"));
  EXPECT_EQ(guest->count(Operation::kRead), 1) << "the first invalid byte is enough";
  Put("large", "caf\u00e9");
  fs::resize_file(work / "large", kMoreThanIsReadWhole);
  Write("/host/work/large", "\uFFFD");
}

// Missing parents.

TEST_F(WriteFile, ParentThatAppearsMeanwhileIsUsed) {
  for (const bool guest_refuses : {false, true}) {
    At(Operation::kMakeDirectory, [&](const std::string& path) {
      fs::create_directory(path);
      if (guest_refuses) {
        throw guest::FileError(FileErrorCode::kPermissionDenied, "mkdir", path, "");
      }
    });
    const std::string name = guest_refuses ? "a/new" : "b/new";
    Write("/host/work/" + name, "text");
    EXPECT_EQ(Get(name), "text");
  }
}

TEST_F(WriteFile, ParentSwappedForALinkMeanwhileIsRefused) {
  fs::create_directory(top / "outside");
  At(Operation::kMakeDirectory,
     [&](const std::string& path) { fs::create_directory_symlink(top / "outside", path); });
  EXPECT_THAT(WriteError("/host/work/a/new"), HasSubstr("/host/work/a/new"));
  EXPECT_TRUE(fs::is_empty(top / "outside"));
}

TEST_F(WriteFile, ParentThatCannotBeCreatedIsReportedWithTheGuestsReason) {
  FailAt(Operation::kMakeDirectory, FileErrorCode::kPermissionDenied);
  EXPECT_EQ(WriteError("/host/work/a/b/new"), "permission denied");
  EXPECT_EQ(guest->count(Operation::kMakeDirectory), 1);
  EXPECT_THAT(Names(), IsEmpty());
  guest->set_hook([](Operation operation, const std::string& path) {
    if (operation == Operation::kMakeDirectory) {
      throw guest::FileError(FileErrorCode::kFailure, "mkdir", path, "the guest's reason");
    }
    if (operation == Operation::kStatFileSystem) {
      throw guest::FileError(FileErrorCode::kUnsupported, "statvfs", path, "");
    }
  });
  EXPECT_EQ(WriteError("/host/work/a/new"), "write /host/work/a/new: the guest's reason");
}

// Links swapped in.

TEST_F(WriteFile, LinkToATwinOutsideThatIsSwappedInIsNotWrittenThrough) {
  Put("one", "the same size");
  const fs::path outside = top / "outside";
  fs::copy_file(work / "one", outside);
  fs::last_write_time(outside, fs::last_write_time(work / "one"));
  RefuseNewFiles([&](Operation operation, const std::string& path) {
    if (operation != Operation::kOpen || path != (work / "one").string()) return;
    fs::remove(work / "one");
    fs::create_symlink(outside, work / "one");
  });
  EXPECT_THAT(WriteError("/host/work/one"), HasSubstr("replaced by another file"));
  std::ifstream file(outside);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "the same size");
}

TEST_F(WriteFile, LinkSwappedInForTheTargetIsReplacedAndNotFollowed) {
  Put("file", "old");
  const fs::path outside = top / "outside";
  std::ofstream(outside) << "secret";
  At(Operation::kRename, [&](const std::string&) {
    fs::remove(work / "file");
    fs::create_symlink(outside, work / "file");
  });
  Write("/host/work/file", "new");
  EXPECT_FALSE(fs::is_symlink(work / "file"));
  EXPECT_EQ(fs::file_size(outside), 6U);
}

TEST_F(WriteFile, LinkThatComesAndGoesWhileAFileIsOpenedIsNotWrittenThrough) {
  Put("file", "old");
  const fs::path file = work / "file";
  const fs::path away = top / "away";
  const fs::path outside = top / "outside";
  std::ofstream(outside) << "secret";
  RefuseNewFiles([&](Operation operation, const std::string& path) {
    if (operation == Operation::kOpen && path == file.string()) {
      fs::rename(file, away);
      fs::create_symlink(outside, file);
    }
    if (operation == Operation::kRealPath && fs::is_symlink(file)) fs::rename(away, file);
  });
  EXPECT_THAT(WriteError("/host/work/file"), HasSubstr("replaced by another file"));
  EXPECT_EQ(fs::file_size(outside), 6U);
}

// Failures.

TEST_F(WriteFile, FailureAnywhereLeavesTheOldFileAndNoTemporaryOne) {
  umask(077);  // so that the permissions are set
  Put("file", "old");
  fs::permissions(work / "file", fs::perms(0644));
  for (const Operation where : {Operation::kOpen, Operation::kWrite, Operation::kSetAttributes,
                                Operation::kSync, Operation::kClose, Operation::kRename}) {
    FailAt(where, FileErrorCode::kFailure);
    EXPECT_THAT(WriteError("/host/work/file"),
                AllOf(HasSubstr("write /host/work/file"), Not(HasSubstr(work.string()))))
        << Name(where);
    EXPECT_EQ(Get("file"), "old") << Name(where);
    if (where != Operation::kSetAttributes) (void)WriteError("/host/work/new");
    EXPECT_THAT(Names(), ElementsAre("file")) << Name(where);
  }
}

TEST_F(WriteFile, ErrorSaysWhyAndWhatToDo) {
  const auto temporary = [](int i) { return ".limactl-mcp-" + std::to_string(i); };
  for (int i = 1; i <= 16; ++i) Put(temporary(i), "");
  EXPECT_EQ(WriteError("/host/work/new"),
            "write /host/work/new: other servers write in this directory, or left files there: if "
            "no server runs, remove .limactl-mcp-1 to .limactl-mcp-16");
  EXPECT_EQ(guest->count(Operation::kOpen), 16);
  for (int i = 1; i <= 16; ++i) fs::remove(work / temporary(i));
  FailAt(Operation::kRename, FileErrorCode::kUnsupported);
  EXPECT_EQ(WriteError("/host/work/new"),
            "write /host/work/new: the guest's SFTP server does not support this");
}

TEST_F(WriteFile, TemporaryFileIsRemovedAfterACancel) {
  Put("file", "old");
  for (const Operation where : {Operation::kWrite, Operation::kClose}) {
    support::StopSource source;
    context = source.context();
    At(where, [&](const std::string&) { source.Stop(support::StopReason::kCancelled); });
    EXPECT_THROW((void)Call({{"path", "/host/work/file"}, {"content", "x"}}), support::Stopped);
    EXPECT_EQ(Get("file"), "old");
    EXPECT_THAT(Names(), ElementsAre("file"));
  }
}

TEST_F(WriteFile, RenameThatIsNotConfirmedIsReportedAsUnknownAndNotRetried) {
  Put("file", "old");
  for (const bool is_lost : {true, false}) {
    guest->ResetCounts();
    At(Operation::kRename, [is_lost](const std::string&) {
      if (is_lost) throw support::ConnectionLost("lost: may have run", true);
      throw support::Stopped(support::StopReason::kDeadline);
    });
    EXPECT_THAT(WriteError("/host/work/file"),
                AllOf(HasSubstr("may have been written"),
                      HasSubstr(is_lost ? "lost: may have run" : "the old file or the whole new")));
    EXPECT_EQ(guest->count(Operation::kRename), 1);
  }
}

TEST_F(WriteFile, ConnectionLostBeforeTheRenameIsRetried) {
  umask(077);  // so that the permissions are set
  Put("file", "old");
  fs::permissions(work / "file", fs::perms(0644));
  for (const Operation where :
       {Operation::kRealPath, Operation::kOpen, Operation::kWrite, Operation::kSetAttributes,
        Operation::kSync, Operation::kClose, Operation::kRename}) {
    bool broken = false;
    guest->set_hook([&](Operation operation, const std::string&) {
      if (operation != where || std::exchange(broken, true)) return;
      const bool may_have_run =
          where == Operation::kOpen || where == Operation::kWrite || where == Operation::kClose;
      throw support::ConnectionLost("lost", may_have_run);
    });
    Write("/host/work/file", Name(where));
    EXPECT_TRUE(broken) << Name(where);
    EXPECT_EQ(Get("file"), Name(where));
  }
}

TEST_F(WriteFile, ConnectionLostAgainAndAgainIsReportedAsNothingChanged) {
  Put("file", "old");
  At(Operation::kWrite, [](const std::string&) { throw support::ConnectionLost("lost", true); });
  EXPECT_THAT(WriteError("/host/work/file"), HasSubstr("/host/work/file was not changed"));
  EXPECT_EQ(guest->count(Operation::kWrite), kMaxAttempts);
  EXPECT_EQ(Get("file"), "old");
}

TEST_F(WriteFile, FailureWhileWritingInPlaceIsReportedAsInPartAndNotRetried) {
  Put("file", "a longer old text");
  const auto fail = [](const std::string& path) {
    throw guest::FileError(FileErrorCode::kFailure, "fail", path, "");
  };
  const auto lose = [](const std::string&) { throw support::ConnectionLost("lost", false); };
  const auto time_out = [](const std::string&) {
    throw support::Stopped(support::StopReason::kDeadline);
  };
  struct Row {
    Operation where;
    std::function<void(const std::string& path)> failure;
  };
  for (const Row& row : {Row{Operation::kWrite, fail}, Row{Operation::kSetAttributes, fail},
                         Row{Operation::kSync, fail}, Row{Operation::kClose, fail},
                         Row{Operation::kSync, lose}, Row{Operation::kSync, time_out}}) {
    guest->ResetCounts();
    RefuseNewFiles([&](Operation operation, const std::string& path) {
      if (operation == row.where) row.failure(path);
      // Finding out the reason fails too, and must not hide that something was written.
      if (operation == Operation::kStatFileSystem) throw support::ConnectionLost("lost", false);
    });
    EXPECT_THAT(WriteError("/host/work/file"),
                AllOf(HasSubstr("may have been written in part"), Not(HasSubstr(work.string()))))
        << Name(row.where);
    EXPECT_EQ(guest->count(row.where), 1);
  }
  RefuseNewFiles([&](Operation operation, const std::string& path) {
    if (operation == Operation::kOpen) fail(path);
  });
  EXPECT_THAT(WriteError("/host/work/file"), Not(HasSubstr("in part")));
}

TEST_F(WriteFile, TextAppendedDuringAWriteInPlaceDoesNotFollowTheNewContent) {
  Put("file", "old");
  RefuseNewFiles([&](Operation operation, const std::string&) {
    if (operation != Operation::kWrite) return;
    std::ofstream(work / "file", std::ios::app) << " with a long end that was appended";
  });
  (void)Call({{"path", "/host/work/file"}, {"content", "a new text"}});
  EXPECT_EQ(Get("file"), "a new text");
}

}  // namespace
}  // namespace tools
