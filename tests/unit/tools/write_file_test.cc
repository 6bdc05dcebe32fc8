#include "tools/write_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>

#include "tools/link_count.h"
#include "unit/tools/write_file_fixture.h"

namespace tools {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::Operation;

TEST_F(WriteFile, NewFileHasTheContentAndThePermissionsOfTheUmask) {
  Write("/host/work/new", "a\r\nb\xEF\xBB\xBF");
  EXPECT_EQ(Get("new"), "a\r\nb\xEF\xBB\xBF");
  EXPECT_EQ(Mode("new"), 0644U);
  EXPECT_THAT(Names(), ElementsAre("new"));
}

TEST_F(WriteFile, EmptyContentMakesAnEmptyFile) {
  Put("file", "old");
  Write("/host/work/file", "");
  EXPECT_EQ(Get("file"), "");
}

TEST_F(WriteFile, MissingParentsAreMade) {
  Write("/host/work/a/b/c/new", "text");
  EXPECT_EQ(Get("a/b/c/new"), "text");
  EXPECT_EQ(Mode("a/b"), 0755U);
}

TEST_F(WriteFile, ExistingFileIsReplacedAtOnceAndKeepsItsPermissions) {
  Put("script", "old");
  fs::permissions(work / "script", fs::perms(0777));
  const ino_t before = Inode("script");
  Write("/host/work/script", "new");
  EXPECT_EQ(Get("script"), "new");
  EXPECT_EQ(Mode("script"), 0777U);
  EXPECT_NE(Inode("script"), before);
  EXPECT_THAT(Names(), ElementsAre("script"));
}

TEST_F(WriteFile, SetuidDoesNotSurviveAWrite) {
  Put("program", "old");
  fs::permissions(work / "program", fs::perms(04755));
  Write("/host/work/program", "new");
  EXPECT_EQ(Mode("program"), 0755U);
}

TEST_F(WriteFile, LinkStaysAndItsTargetIsWritten) {
  Put("target", "old");
  fs::create_symlink("target", work / "link");
  Write("/host/work/link", "new");
  EXPECT_TRUE(fs::is_symlink(work / "link"));
  EXPECT_EQ(Get("target"), "new");
}

TEST_F(WriteFile, DanglingLinkStaysAndItsTargetIsMade) {
  fs::create_symlink("sub/target", work / "link");
  Write("/host/work/link", "new");
  EXPECT_TRUE(fs::is_symlink(work / "link"));
  EXPECT_EQ(Get("sub/target"), "new");
}

TEST_F(WriteFile, DanglingLinkOutOfTheRootIsRefused) {
  fs::create_symlink(top.path() / "pwned", work / "x");
  EXPECT_THAT(WriteError("/host/work/x"), HasSubstr("outside"));
  EXPECT_FALSE(fs::exists(top.path() / "pwned"));
}

TEST_F(WriteFile, ReadOnlyRootIsRefused) {
  EXPECT_THAT(WriteError("/host/library/new"), HasSubstr("read-only"));
  EXPECT_TRUE(fs::is_empty(library));
}

TEST_F(WriteFile, HardLinksAreKeptByWritingInPlace) {
  Put("one", "a longer old text");
  fs::create_hard_link(work / "one", work / "two");
  const ino_t before = Inode("one");
  Write("/host/work/one", "new");
  EXPECT_EQ(Get("two"), "new");
  EXPECT_EQ(Inode("one"), before);
  Write("/host/work/two", "and a much longer new text");
  EXPECT_EQ(Get("one"), "and a much longer new text");
}

TEST_F(WriteFile, OwnerIsKeptByWritingInPlace) {
  if (getuid() != 0) GTEST_SKIP() << "only root can give files away";
  Put("file", "old");
  ASSERT_EQ(chown((work / "file").c_str(), 12345, 23456), 0);
  Write("/host/work/file", "new");
  EXPECT_EQ(Get("file"), "new");
  EXPECT_EQ(Status(work / "file").st_uid, 12345U);
  EXPECT_EQ(Status(work / "file").st_gid, 23456U);
  EXPECT_THAT(Names(), ElementsAre("file"));
}

TEST_F(WriteFile, DirectoryThatTakesNoNewFileIsNoObstacle) {
  Put("file", "old");
  guest->set_hook([&](Operation operation, const std::string& path) {
    if (operation == Operation::kOpen && path != (work / "file").string()) {
      throw guest::FileError(guest::FileErrorCode::kPermissionDenied, "open", path, "");
    }
  });
  Write("/host/work/file", "new");
  EXPECT_EQ(Get("file"), "new");
}

TEST_F(WriteFile, FileMarkedReadOnlyIsNotReplaced) {
  Put("file", "old");
  fs::permissions(work / "file", fs::perms(0444));
  if (getuid() == 0) {  // root may write every file: it and the new one are an ordinary user's
    ASSERT_EQ(chown((work / "file").c_str(), 12345, 23456), 0);
    guest->set_hook([](Operation operation, const std::string& path) {
      if (operation != Operation::kFileStat) return;
      EXPECT_EQ(chown(path.c_str(), 12345, 23456), 0);
    });
  }
  EXPECT_EQ(WriteError("/host/work/file"), "permission denied");
  EXPECT_EQ(Get("file"), "old");
  EXPECT_THAT(Names(), ElementsAre("file"));
}

TEST_F(WriteFile, NothingButARegularFileIsOverwritten) {
  fs::create_directory(work / "directory");
  ASSERT_EQ(mkfifo((work / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(WriteError("/host/work/directory"), HasSubstr("is a directory"));
  EXPECT_THAT(WriteError("/host/work/fifo"), HasSubstr("is a FIFO"));
  EXPECT_THAT(WriteError("/host/work"), HasSubstr("is a directory"));
  EXPECT_EQ(guest->count(Operation::kOpen), 0);
}

TEST_F(WriteFile, ServerWithoutSyncStillWrites) {
  guest->set_offers_sync(false);
  Write("/host/work/new", "text");
  EXPECT_EQ(Get("new"), "text");
}

// U+FFFD.

TEST_F(WriteFile, ReplacementCharactersAreNotWrittenOverAFileThatIsNotUtf8) {
  Put("latin1", "caf\xE9");
  EXPECT_THAT(WriteError("/host/work/latin1", "caf\uFFFD!"),
              AllOf(HasSubstr("not UTF-8"), HasSubstr("U+FFFD"), HasSubstr("Nothing was written")));
  EXPECT_EQ(Get("latin1"), "caf\xE9");
}

TEST_F(WriteFile, BadByteAtTheVeryEndIsFound) {
  Put("cut", std::string(3 * 256 * 1024 - 1, 'x') + "\xE2\x82");
  EXPECT_THAT(WriteError("/host/work/cut", "\uFFFD"), HasSubstr("not UTF-8"));
}

TEST_F(WriteFile, CharacterAcrossTwoChunksIsNoBadByte) {
  Put("file", std::string(256 * 1024 - 1, 'x') + "\u20ac");
  Write("/host/work/file", "\uFFFD");
  EXPECT_EQ(Get("file"), "\uFFFD");
}

TEST_F(WriteFile, ReplacementCharactersMayBeWrittenElsewhere) {
  Put("utf8", "\uFFFD");
  Put("latin1", "caf\xE9");
  Write("/host/work/utf8", "\uFFFD\uFFFD");
  Write("/host/work/new", "\uFFFD");
  Write("/host/work/latin1", "caf\u00e9");
  EXPECT_EQ(Get("latin1"), "caf\u00e9");
}

// Round trips, as atomic_write.h states them.

TEST_F(WriteFile, FirstWriteInADirectoryLooksForLeftovers) {
  EXPECT_EQ(RoundTrips({{"path", "/host/work/new"}, {"content", "x"}}),
            "Stat 1, LStat 1, RealPath 1, Open 1, List 1, Rename 1, FileWrite 1, FileSync 1, "
            "FileClose 1");
}

TEST_F(WriteFile, NewFileTakesFiveOperationsBeyondThePathRules) {
  Write("/host/work/first", "");
  EXPECT_EQ(RoundTrips({{"path", "/host/work/new"}, {"content", "x"}}),
            "LStat 1, RealPath 1, Open 1, Rename 1, FileWrite 1, FileSync 1, FileClose 1");
}

TEST_F(WriteFile, ExistingFileTakesThreeMore) {
  Write("/host/work/first", "");
  Put("file", "old");
  fs::permissions(work / "file", fs::perms(0644));
  EXPECT_EQ(RoundTrips({{"path", "/host/work/file"}, {"content", "x"}}),
            "Stat 1, LStat 1, RealPath 1, Open 1, List 1, Rename 1, FileStat 1, FileWrite 1, "
            "FileSync 1, FileClose 1");
}

// Hard links.

TEST_F(WriteFile, LinksOfAFileInALargeDirectoryAreAskedOfACommand) {
  fs::create_directory(work / "large");
  const std::string padding(200, 'n');
  for (int i = 0; Status(work / "large").st_size < std::int64_t{kLargeDirectoryBytes} && i < 5000;
       ++i) {
    Put("large/" + padding + std::to_string(i), "");
  }
  if (Status(work / "large").st_size < std::int64_t{kLargeDirectoryBytes}) {
    GTEST_SKIP() << "directories of this file system do not tell their size in bytes";
  }
  Put("large/it's one", "old");
  fs::create_hard_link(work / "large/it's one", work / "two");
  const std::string path = (work / "large/it's one").string();
  guest->ResetCounts();
  EXPECT_EQ(CountLinks(path, *guest, {}), 2U);
  EXPECT_EQ(guest->counts(), "Stat 1, Run 1");
}

TEST_F(WriteFile, LinksOfAFileInADirectoryThatMayNotBeListedAreAskedOfACommand) {
  Put("file", "");
  FailAt(Operation::kList, guest::FileErrorCode::kPermissionDenied);
  EXPECT_EQ(CountLinks((work / "file").string(), *guest, {}), 1U);
}

TEST_F(WriteFile, LinksThatNobodyCanCountAreUnknown) {
  EXPECT_EQ(CountLinks((work / "none").string(), *guest, {}), std::nullopt);
}

}  // namespace
}  // namespace tools
