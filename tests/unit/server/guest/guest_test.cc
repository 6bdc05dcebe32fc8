// SPDX-License-Identifier: Apache-2.0
// guest::Guest, whichever guest answers the bursts.

#include "guest/guest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.h"
#include "support/paths.h"
#include "support/printable.h"
#include "testing/error_of.h"
#include "testing/files.h"
#include "testing/local_guest.h"
#include "testing/temporary_directory.h"

namespace guest {
namespace {

using ::testing::HasSubstr;
using testing_support::ErrorOf;
using testing_support::Name;

class GuestTest : public ::testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(local_.closed_handles(), opened_) << "what was opened is closed, once";
  }
  [[nodiscard]] std::string Path(const std::string& name) const {
    return (directory_.path() / name).string();
  }
  [[nodiscard]] std::string Contents(const std::string& name) const {
    return testing_support::ReadFile(Path(name));
  }
  void Refuse(Operation refused, FileErrorCode code = FileErrorCode::kPermissionDenied) {
    local_.set_hook([refused, code](Operation operation, const std::string& path) {
      if (operation == refused) throw FileError(code, "try", path, "");
    });
  }
  std::unique_ptr<OpenFile> Open(const std::string& name, OpenMode mode = OpenMode::kRead) {
    auto file = guest_.Open(Path(name), mode, 0600, {});
    ++opened_;
    local_.ResetCounts();
    return file;
  }
  std::unique_ptr<OpenFile> Create(const std::string& name) {
    return Open(name, OpenMode::kCreateExclusive);
  }

  const testing_support::TemporaryDirectory directory_;
  testing_support::LocalGuest local_;
  Guest& guest_ = local_;
  int opened_ = 0;
};

TEST_F(GuestTest, LongWritesTakeARoundTripForEachPieceAndReadsReturnOne) {
  const std::string text = std::string(kMaxTransfer, 'a') + std::string(kMaxTransfer, 'b') + "end";
  const auto file = Create("file");
  file->Write(0, text, {});
  EXPECT_EQ(local_.round_trips(), 3);
  file->Write(text.size(), "", {});
  ASSERT_TRUE(Contents("file") == text);

  EXPECT_EQ(Open("file")->ReadSome(0, text.size(), {}).size(), kMaxTransfer);
  EXPECT_EQ(Open("file")->ReadSome(text.size() - 2, 10, {}), "nd") << "the file ends there";
}

TEST_F(GuestTest, WriteAndCloseWritesSyncsAndClosesInOneRoundTrip) {
  Create("file")->WriteAndClose("text", {0751, {}}, {});
  EXPECT_EQ(local_.round_trips(), 1);
  EXPECT_EQ(local_.counts(), "Write 1, SetAttributes 1, Sync 1, Close 1");
  EXPECT_EQ(Contents("file"), "text");
  EXPECT_EQ(guest_.LStat(Path("file"), {}).permissions, 0751U);
  Create("empty")->WriteAndClose("", {}, {});
  EXPECT_EQ(local_.counts(), "Sync 1, Close 1");
  Create("cut")->WriteAndClose("text", {{}, 2}, {});
  EXPECT_EQ(Contents("cut"), "te");
}

TEST_F(GuestTest, WriteAndCloseOfMuchEndsWithOneRoundTrip) {
  for (const std::size_t size : {kMaxTransfer, kMaxTransfer + 1, 2 * kMaxTransfer}) {
    const std::string text = std::string(size - 1, 'x') + "y";
    const std::string name = std::to_string(size);
    Create(name)->WriteAndClose(text, {}, {});
    EXPECT_EQ(local_.round_trips(), size > kMaxTransfer ? 2 : 1);
    EXPECT_TRUE(Contents(name) == text) << size;
  }
}

TEST_F(GuestTest, WriteAndCloseReturnsTheRepliesToRequestsThatFollowInTheRoundTrip) {
  const Request status = Request::LStat(Path("file"));
  std::vector<Reply> replies =
      Create("file")->WriteAndClose("text", {}, {}, {status, Request::RealPath(Path("file"))});
  ASSERT_EQ(replies.size(), 2U);
  EXPECT_EQ(replies[0].As<FileAttributes>().size, 4U) << "after the text was written";
  EXPECT_EQ(replies[1].As<std::string>(), Path("file"));
  EXPECT_EQ(local_.round_trips(), 1);
  Refuse(Operation::kLStat);
  replies = Create("other")->WriteAndClose("text", {}, {}, {Request::LStat(Path("other"))});
  EXPECT_TRUE(replies[0].Is(FileErrorCode::kPermissionDenied));
  EXPECT_EQ(Contents("other"), "text");
}

TEST_F(GuestTest, WriteAndCloseWorksWithoutSync) {
  local_.set_offers_sync(false);
  Create("file")->WriteAndClose("text", {}, {});
  EXPECT_EQ(Contents("file"), "text");
}

TEST_F(GuestTest, WriteAndCloseThrowsWhatFailsAndLeavesNothingOpen) {
  for (const Operation refused :
       {Operation::kWrite, Operation::kSetAttributes, Operation::kSync, Operation::kClose}) {
    Refuse(refused);
    EXPECT_THROW(Create(Name(refused))->WriteAndClose("text", {0600, {}}, {}), FileError)
        << Name(refused);
    EXPECT_EQ(local_.count(Operation::kClose), 1);
  }
}

TEST_F(GuestTest, StoppedCallsCloseTheirFiles) {
  support::StopSource stop;
  auto reader = Create("read");
  auto writer = Create("written");
  stop.Stop(support::StopReason::kCancelled);
  EXPECT_THROW(reader->ReadSome(0, 1, stop.context()), support::Stopped);
  EXPECT_THROW(writer->WriteAndClose("text", {}, stop.context()), support::Stopped);
}

TEST_F(GuestTest, AnOpenFileIsClosedByItsLastOwnerOnly) {
  testing_support::WriteFile(Path("file"), "text");
  const Handle handle = guest_.RoundTrip({Request::Open(Path("file"))}, {}).front().As<Handle>();
  ++opened_;
  {
    OpenFile first(guest_, handle);
    OpenFile second(std::move(first));
    EXPECT_EQ(local_.closed_handles(), 0);
  }
  EXPECT_EQ(local_.closed_handles(), 1);
  Open("file").reset();
}

/// The guest replies as the test specifies.
class LiarTest : public ::testing::Test {
 protected:
  LiarTest() {
    guest_.set_reply([this](const Request& request, const support::Context&) -> Reply {
      switch (request.operation) {
        case guest::Operation::kLStat:
          looked_at_.push_back(request.path);
          return {{}, FileError(lstat_code_, "stat", request.path, "")};
        case guest::Operation::kReadDirectory:
          ++bursts_[guest_.round_trips()];
          return NextNames();
        case guest::Operation::kRealPath:
        case guest::Operation::kReadLink:
          return {path_, {}};
        default:
          return {};
      }
    });
  }

  /// `replies` replies with `names`, then `end`, then replies without names.
  std::vector<DirectoryEntry> Read(std::size_t replies, const std::vector<std::string>& names,
                                   const std::vector<Reply>& end = {}) {
    std::vector<DirectoryEntry> entries;
    for (const std::string& name : names) entries.push_back({name, {}});
    listing_.assign(replies, {entries, {}});
    listing_.insert(listing_.end(), end.begin(), end.end());
    bursts_.clear();
    ++opened_;
    auto opened = guest_.RoundTrip({Request::OpenDirectory("/d")}, {});
    return ReadNames(OpenFile(guest_, opened.at(0).As<Handle>()), {});
  }

  void TearDown() override { EXPECT_EQ(guest_.closed_handles(), opened_); }

  [[nodiscard]] std::vector<int> Bursts() const {
    std::vector<int> lengths;
    for (const auto& [round_trip, length] : bursts_) lengths.push_back(length);
    return lengths;
  }

  testing_support::LocalGuest guest_;
  std::string path_;  ///< for RealPath and ReadLink
  FileErrorCode lstat_code_ = FileErrorCode::kNotFound;
  std::vector<std::string> looked_at_;

 private:
  Reply NextNames() {
    if (listing_.empty()) return {std::vector<DirectoryEntry>(), {}};
    Reply next = std::move(listing_.front());
    listing_.pop_front();
    return next;
  }

  std::deque<Reply> listing_;
  int opened_ = 0;
  std::map<int, int> bursts_;  ///< requests for names, by round trip
};

TEST_F(LiarTest, InvalidRealPathsAreRefused) {
  for (const std::string& path :
       {std::string(), std::string("relative"), std::string("/mnt/w/../../etc"),
        std::string("/mnt/w/./a"), std::string("/mnt//w"), std::string("/mnt/w/"),
        std::string("/mnt/w/a\0b", 10)}) {
    path_ = path;
    EXPECT_THROW(guest_.RealPath("/mnt/w", {}), FileError) << support::Printable(path);
  }
  path_ = "/mnt/w/a\nb\xff";
  EXPECT_EQ(guest_.RealPath("/mnt/w", {}), path_);
}

TEST_F(LiarTest, InvalidLinkTargetsAreRefused) {
  for (const std::string& path : {std::string(), std::string("a\0b", 3)}) {
    path_ = path;
    EXPECT_THROW(guest_.ReadLink("/mnt/w", {}), FileError) << support::Printable(path);
  }
  path_ = "../a//";
  EXPECT_EQ(guest_.ReadLink("/mnt/w", {}), path_);
}

TEST_F(LiarTest, PathsThatAreTooLongAreRefused) {
  path_ = "/" + std::string(kMaxPath - 1, 'a');
  EXPECT_EQ(guest_.RealPath("/mnt/w", {}), path_);
  EXPECT_EQ(guest_.ReadLink("/mnt/w", {}), path_);
  path_ += "a";
  auto replies = guest_.RoundTrip({Request::RealPath("/mnt/w"), Request::ReadLink("/mnt/w")}, {});
  for (const Reply& reply : replies) {
    EXPECT_THAT(reply.failure.value().detail(), HasSubstr("an invalid path"));
  }
}

TEST_F(LiarTest, NamesAreReadInGrowingBursts) {
  const auto entries = Read(33, {".", "..", "a"});
  EXPECT_EQ(entries.size(), 33U);
  EXPECT_EQ(entries.front().name, "a");
  EXPECT_EQ(Bursts(), (std::vector<int>{2, 4, 8, 16, 16}));
  EXPECT_EQ(Read(1, {"a"}).size(), 1U);
  EXPECT_EQ(Bursts(), (std::vector<int>{2})) << "with their end";
}

TEST_F(LiarTest, AFailureAfterTheEndOfTheNamesIsIgnored) {
  const Reply failure{{}, FileError(FileErrorCode::kFailure, "list", "/d", "")};
  EXPECT_THROW(Read(1, {"a"}, {failure}), FileError) << "in place of the end";
  EXPECT_EQ(Read(4, {"a"}, {{std::vector<DirectoryEntry>(), {}}, failure}).size(), 4U)
      << "behind the end";
}

TEST_F(LiarTest, InvalidNamesAreRefused) {
  for (const std::string& name : {std::string("a/b"), std::string(), std::string("a\0b", 3)}) {
    EXPECT_THROW(Read(1, {name}), FileError) << support::Printable(name);
  }
}

TEST_F(LiarTest, NamesAreLimitedInNumberAndLength) {
  EXPECT_EQ(Read(10, std::vector<std::string>(100'000, "n")).size(), 1'000'000U);
  EXPECT_THROW(Read(11, std::vector<std::string>(100'000, "n")), support::Error);
  const std::string long_name(std::size_t{4} << 20U, 'n');
  EXPECT_EQ(Read(16, {long_name}).size(), 16U);
  EXPECT_THROW(Read(17, {long_name}), support::Error);
}

TEST_F(LiarTest, ADirectoryWithoutNamesIsEmptyOnlyIfItMayBeEntered) {
  EXPECT_TRUE(Read(0, {}).empty());
  EXPECT_EQ(looked_at_, std::vector<std::string>{"/d/."});
  lstat_code_ = FileErrorCode::kPermissionDenied;
  EXPECT_EQ(Read(1, {"."}).size(), 0U);
  EXPECT_EQ(looked_at_.size(), 1U);
  EXPECT_EQ(ErrorOf<FileError>([&] { Read(0, {}); }), "list /d: permission denied");
}

TEST(FileError, NamesTheOperationThePathAndTheReason) {
  EXPECT_STREQ(FileError(FileErrorCode::kNotFound, "stat", "/a/b", "").what(),
               "stat /a/b: no such file or directory");
  const FileError error(FileErrorCode::kFailure, "write", "/a", "quota exceeded");
  EXPECT_STREQ(error.what(), "write /a: failure (quota exceeded)");
  EXPECT_EQ(error.detail(), "quota exceeded");
}

TEST(FileType, ComesFromTheModeWithoutPermissions) {
  using enum FileType;
  for (const auto& [mode, type] :
       std::vector<std::pair<std::uint32_t, FileType>>{{S_IFREG, kRegular},
                                                       {S_IFDIR, kDirectory},
                                                       {S_IFLNK, kSymlink},
                                                       {S_IFIFO, kFifo},
                                                       {S_IFSOCK, kSocket},
                                                       {S_IFCHR, kCharacterDevice},
                                                       {S_IFBLK, kBlockDevice},
                                                       {0, kUnknown},
                                                       {0150000, kUnknown},
                                                       {0170000, kUnknown}}) {
    EXPECT_EQ(FileTypeOf(mode), type) << mode;
    EXPECT_EQ(FileTypeOf(mode | 07777U), type) << mode;
  }
}

}  // namespace
}  // namespace guest
