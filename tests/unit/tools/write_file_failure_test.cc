// What is there when a write fails, or something else comes in between.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "unit/tools/write_file_fixture.h"

namespace tools {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing_support::Operation;

TEST_F(WriteFile, ParentThatAnotherCallMakesMeanwhileIsUsed) {
  guest->set_hook([&](Operation operation, const std::string& path) {
    if (operation == Operation::kMakeDirectory) fs::create_directory(path);
  });
  Write("/host/work/a/new", "text");
  EXPECT_EQ(Get("a/new"), "text");
}

TEST_F(WriteFile, ParentThatIsThereIsUsedWhateverTheGuestSaysOfMakingIt) {
  guest->set_hook([](Operation operation, const std::string& path) {
    if (operation != Operation::kMakeDirectory) return;
    fs::create_directory(path);
    throw guest::FileError(guest::FileErrorCode::kPermissionDenied, "mkdir", path, "");
  });
  Write("/host/work/a/new", "text");
  EXPECT_EQ(Get("a/new"), "text");
}

TEST_F(WriteFile, ParentSwappedForALinkMeanwhileIsRefused) {
  fs::create_directory(top.path() / "outside");
  guest->set_hook([&](Operation operation, const std::string& path) {
    if (operation == Operation::kMakeDirectory) {
      fs::create_directory_symlink(top.path() / "outside", path);
    }
  });
  EXPECT_THAT(WriteError("/host/work/a/new"), HasSubstr("/host/work/a/new"));
  EXPECT_TRUE(fs::is_empty(top.path() / "outside"));
}

TEST_F(WriteFile, ParentThatCannotBeMadeIsToldWithTheGuestsReason) {
  guest->set_hook([](Operation operation, const std::string& path) {
    if (operation == Operation::kMakeDirectory) {
      throw guest::FileError(guest::FileErrorCode::kFailure, "mkdir", path, "the guest's reason");
    }
    if (operation == Operation::kStatFileSystem) {
      throw guest::FileError(guest::FileErrorCode::kUnsupported, "statvfs", path, "");
    }
  });
  EXPECT_EQ(WriteError("/host/work/a/new"), "write /host/work/a/new: the guest's reason");
}

TEST_F(WriteFile, ParentThatMayNotBeMadeIsToldOf) {
  FailAt(Operation::kMakeDirectory, guest::FileErrorCode::kPermissionDenied);
  EXPECT_EQ(WriteError("/host/work/a/b/new"), "permission denied");
  EXPECT_EQ(guest->count(Operation::kMakeDirectory), 1);
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(WriteFile, LinkToATwinOutsideThatIsSwappedInIsNotWrittenThrough) {
  Put("one", "the same size");
  const fs::path outside = top.path() / "outside";
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
  const fs::path outside = top.path() / "outside";
  std::ofstream(outside) << "secret";
  guest->set_hook([&](Operation operation, const std::string&) {
    if (operation != Operation::kRename) return;
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
  const fs::path away = top.path() / "away";
  const fs::path outside = top.path() / "outside";
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

TEST_F(WriteFile, FailureAnywhereLeavesTheOldFileAndNoTemporaryOne) {
  Put("file", "old");
  for (const Operation where :
       {Operation::kOpen, Operation::kFileWrite, Operation::kFileSetAttributes,
        Operation::kFileSync, Operation::kFileClose, Operation::kRename}) {
    FailAt(where, guest::FileErrorCode::kFailure);
    EXPECT_THAT(WriteError("/host/work/file"),
                AllOf(HasSubstr("write /host/work/file"), Not(HasSubstr(work.string()))))
        << testing_support::Name(where);
    EXPECT_EQ(Get("file"), "old") << testing_support::Name(where);
    EXPECT_THAT(Names(), ElementsAre("file")) << testing_support::Name(where);
  }
}

TEST_F(WriteFile, FailureOfANewFileLeavesNothing) {
  for (const Operation where : {Operation::kOpen, Operation::kFileWrite, Operation::kFileSync,
                                Operation::kFileClose, Operation::kRename}) {
    FailAt(where, guest::FileErrorCode::kFailure);
    (void)WriteError("/host/work/new");
    EXPECT_THAT(Names(), IsEmpty()) << testing_support::Name(where);
  }
}

TEST_F(WriteFile, NamesThatAreAllTakenAreAnErrorThatNamesThem) {
  FailAt(Operation::kOpen, guest::FileErrorCode::kAlreadyExists);
  EXPECT_EQ(WriteError("/host/work/new"),
            "write /host/work/new: other servers write beside it, or left files there: remove "
            ".limactl-mcp-1 to .limactl-mcp-16 if no server runs");
  EXPECT_EQ(guest->count(Operation::kOpen), 16);
}

TEST_F(WriteFile, OperationThatTheServerDoesNotOfferIsToldOf) {
  FailAt(Operation::kRename, guest::FileErrorCode::kUnsupported);
  EXPECT_EQ(WriteError("/host/work/new"),
            "write /host/work/new: the guest's SFTP server does not offer what this takes");
}

TEST_F(WriteFile, WhereTheFileSystemCannotBeAskedTheGuestsOwnWordsStand) {
  guest->set_hook([](Operation operation, const std::string& path) {
    if (operation == Operation::kFileWrite) {
      throw guest::FileError(guest::FileErrorCode::kFailure, "write", path, "its own words");
    }
    if (operation == Operation::kStatFileSystem) {
      throw guest::FileError(guest::FileErrorCode::kUnsupported, "statvfs", path, "");
    }
  });
  EXPECT_EQ(WriteError("/host/work/new"), "write /host/work/new: its own words");
}

TEST_F(WriteFile, TemporaryFileIsRemovedAfterACancel) {
  support::StopSource source;
  context = source.context();
  guest->set_hook([&](Operation operation, const std::string&) {
    if (operation == Operation::kFileWrite) source.Stop(support::StopReason::kCancelled);
  });
  EXPECT_THROW((void)Call({{"path", "/host/work/new"}, {"content", "x"}}), support::Stopped);
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(WriteFile, TemporaryFileIsRemovedAfterACancelRightBeforeTheRename) {
  Put("file", "old");
  support::StopSource source;
  context = source.context();
  guest->set_hook([&](Operation operation, const std::string&) {
    if (operation == Operation::kFileClose) source.Stop(support::StopReason::kCancelled);
  });
  EXPECT_THROW((void)Call({{"path", "/host/work/file"}, {"content", "x"}}), support::Stopped);
  EXPECT_EQ(Get("file"), "old");
  EXPECT_THAT(Names(), ElementsAre("file"));
}

TEST_F(WriteFile, LostLineIsReportedAsItIs) {
  Put("file", "old");
  guest->set_hook([](Operation operation, const std::string&) {
    if (operation == Operation::kRename) throw support::ConnectionLost("lost: may have run", true);
  });
  EXPECT_THAT(WriteError("/host/work/file"),
              AllOf(HasSubstr("may have been written"), HasSubstr("lost: may have run")));
  EXPECT_EQ(guest->count(Operation::kRename), 1) << "what may have run is not repeated";
}

TEST_F(WriteFile, LineThatBreaksBeforeTheRenameCostsNothing) {
  Put("file", "old");
  for (const Operation where : {Operation::kRealPath, Operation::kOpen, Operation::kFileWrite,
                                Operation::kFileSetAttributes, Operation::kFileSync,
                                Operation::kFileClose, Operation::kRename}) {
    bool broken = false;
    guest->set_hook([&](Operation operation, const std::string&) {
      if (operation != where || std::exchange(broken, true)) return;
      const bool may_have_run = where == Operation::kOpen || where == Operation::kFileWrite ||
                                where == Operation::kFileClose;
      throw support::ConnectionLost("lost", may_have_run);
    });
    Write("/host/work/file", testing_support::Name(where));
    EXPECT_TRUE(broken) << testing_support::Name(where);
    EXPECT_EQ(Get("file"), testing_support::Name(where));
  }
}

TEST_F(WriteFile, LineThatBreaksAgainAndAgainIsReportedAsNothingChanged) {
  Put("file", "old");
  guest->set_hook([](Operation operation, const std::string&) {
    if (operation == Operation::kFileWrite) throw support::ConnectionLost("lost", true);
  });
  EXPECT_THAT(WriteError("/host/work/file"), HasSubstr("/host/work/file was not changed"));
  EXPECT_EQ(guest->count(Operation::kFileWrite), kMaximumAttempts);
  EXPECT_EQ(Get("file"), "old");
}

TEST_F(WriteFile, LineThatBreaksWhileWritingInPlaceIsReportedAsInPart) {
  Put("file", "old");
  RefuseNewFiles([](Operation operation, const std::string&) {
    if (operation == Operation::kFileSync) throw support::ConnectionLost("lost", false);
  });
  EXPECT_THAT(WriteError("/host/work/file"), HasSubstr("may have been written in part"));
  EXPECT_EQ(guest->count(Operation::kFileSync), 1) << "what may have run is not repeated";
}

TEST_F(WriteFile, FailureWhileWritingInPlaceIsReportedAsInPart) {
  Put("file", "a longer old text");
  const auto fail_at = [&](Operation where) {
    RefuseNewFiles([where](Operation operation, const std::string& path) {
      if (operation != where) return;
      throw guest::FileError(guest::FileErrorCode::kFailure, "fail", path, "");
    });
  };
  for (const Operation where : {Operation::kFileWrite, Operation::kFileSetAttributes,
                                Operation::kFileSync, Operation::kFileClose}) {
    fail_at(where);
    EXPECT_THAT(WriteError("/host/work/file"),
                AllOf(HasSubstr("write /host/work/file: "),
                      HasSubstr("may have been written in part"), Not(HasSubstr(work.string()))))
        << testing_support::Name(where);
  }
  fail_at(Operation::kOpen);
  EXPECT_THAT(WriteError("/host/work/file"), Not(HasSubstr("in part")));
}

TEST_F(WriteFile, WhatIsAppendedRightBeforeAWriteInPlaceDoesNotFollowTheNewContent) {
  Put("file", "old");
  RefuseNewFiles([&](Operation operation, const std::string&) {
    if (operation != Operation::kFileWrite) return;
    std::ofstream(work / "file", std::ios::app) << " with a long end that was appended";
  });
  (void)Call({{"path", "/host/work/file"}, {"content", "a new text"}});
  EXPECT_EQ(Get("file"), "a new text");
}

TEST_F(WriteFile, WhatHasNoRoomIsNotBegunInPlace) {
  Put("file", "old");
  RefuseNewFiles();
  guest->set_free_bytes(2);
  EXPECT_THAT(WriteError("/host/work/file", "longer"),
              AllOf(HasSubstr("no space left"), Not(HasSubstr("in part"))));
  EXPECT_EQ(Get("file"), "old");
  EXPECT_EQ(guest->count(Operation::kFileWrite), 0);
  (void)Call({{"path", "/host/work/file"}, {"content", "fits!"}});
  EXPECT_EQ(Get("file"), "fits!");
}

TEST_F(WriteFile, FailedWriteInPlaceIsNotRepeatedBecauseTheLineBreaksAfterIt) {
  Put("file", "old");
  RefuseNewFiles([](Operation operation, const std::string& path) {
    if (operation == Operation::kFileWrite) {
      throw guest::FileError(guest::FileErrorCode::kFailure, "write", path, "");
    }
    if (operation == Operation::kStatFileSystem) throw support::ConnectionLost("lost", false);
  });
  EXPECT_THAT(WriteError("/host/work/file"), HasSubstr("reports a failure"));
  EXPECT_EQ(guest->count(Operation::kFileWrite), 1);
}

TEST_F(WriteFile, TimeThatEndsWhileWritingInPlaceIsReportedAsInPart) {
  Put("file", "old");
  RefuseNewFiles([](Operation operation, const std::string&) {
    if (operation == Operation::kFileSync) {
      throw support::Stopped(support::StopReason::kDeadline);
    }
  });
  EXPECT_THAT(WriteError("/host/work/file"), HasSubstr("may have been written in part"));
}

TEST_F(WriteFile, RenameWithoutAnAnswerSaysThatBothArePossible) {
  guest->set_hook([](Operation operation, const std::string&) {
    if (operation == Operation::kRename) throw support::Stopped(support::StopReason::kDeadline);
  });
  EXPECT_THAT(WriteError("/host/work/new"), HasSubstr("the old file or the whole new one"));
}

}  // namespace
}  // namespace tools
