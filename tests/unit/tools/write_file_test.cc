#include "tools/write_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

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

TEST_F(WriteFile, PermissionsAreKeptUnderATightUmask) {
  umask(077);
  Put("file", "old");
  fs::permissions(work / "file", fs::perms(0664));
  Write("/host/work/file", "new");
  EXPECT_EQ(Mode("file"), 0664U);
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

TEST_F(WriteFile, HardLinkIsBroken) {
  Put("one", "old");
  fs::create_hard_link(work / "one", work / "two");
  Write("/host/work/one", "new");
  EXPECT_EQ(Get("one"), "new");
  EXPECT_EQ(Get("two"), "old");
}

TEST_F(WriteFile, FileOfAnotherUserBecomesTheGuestUsers) {
  if (getuid() != 0) GTEST_SKIP() << "only root can give files away";
  Put("file", "old");
  ASSERT_EQ(chown((work / "file").c_str(), 12345, 23456), 0);
  Write("/host/work/file", "new");
  EXPECT_EQ(Get("file"), "new");
  EXPECT_EQ(Status(work / "file").st_uid, getuid());
}

TEST_F(WriteFile, DirectoryThatTakesNoNewFileIsNoObstacleAndTheResultSaysSo) {
  Put("file", "a longer old text");
  const ino_t before = Inode("file");
  RefuseNewFiles();
  const mcp::ToolResult result = Call({{"path", "/host/work/file"}, {"content", "new"}});
  EXPECT_EQ(result.structured, nlohmann::json::object());
  ASSERT_EQ(result.more_content.size(), 1U);
  EXPECT_EQ(result.more_content[0].at("text"),
            "/host/work/file was written in place, since its directory takes no new file: not "
            "atomic");
  EXPECT_EQ(Get("file"), "new");
  EXPECT_EQ(Inode("file"), before);
}

TEST_F(WriteFile, NewFileInADirectoryThatTakesNoneIsPermissionDenied) {
  RefuseNewFiles();
  EXPECT_EQ(WriteError("/host/work/new"), "permission denied");
}

TEST_F(WriteFile, FileMarkedReadOnlyIsLeftAlone) {
  Put("file", "old");
  fs::permissions(work / "file", fs::perms(0577));
  EXPECT_EQ(WriteError("/host/work/file"), "permission denied");
  EXPECT_EQ(guest->count(Operation::kOpen), 0);
  EXPECT_EQ(Get("file"), "old");
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

// Round trips, as file_writer.h states them.

TEST_F(WriteFile, NewFileTakesFiveOperationsBeyondThePathRules) {
  EXPECT_EQ(RoundTrips({{"path", "/host/work/new"}, {"content", "x"}}),
            "LStat 1, RealPath 1, Open 1, Rename 1, FileWrite 1, FileSync 1, FileClose 1");
}

TEST_F(WriteFile, ExistingFileTakesOneMore) {
  Put("file", "old");
  EXPECT_EQ(RoundTrips({{"path", "/host/work/file"}, {"content", "x"}}),
            "LStat 1, RealPath 1, Open 1, Rename 1, FileWrite 1, FileSetAttributes 1, "
            "FileSync 1, FileClose 1");
}

}  // namespace
}  // namespace tools
