#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "file_tool_fixture.h"
#include "tools/tools.h"

namespace tools {
namespace {

namespace fs = std::filesystem;
using guest::Operation;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Replace : public FileToolTest {
 protected:
  Replace() : FileToolTest("replace") {}

  static json Edit(const std::string& old_string, const std::string& new_string,
                   const std::string& path = "/host/work/file") {
    return {{"path", path}, {"old_string", old_string}, {"new_string", new_string}};
  }
  static json EditAll(const std::string& old_string, const std::string& new_string) {
    json arguments = Edit(old_string, new_string);
    arguments["allow_multiple"] = true;
    return arguments;
  }
};

TEST_F(Replace, ReplacesTheOnlyOccurrenceAndKeepsEveryOtherByte) {
  Put("file", "one two three\r\ncaf\xE9 \xFF");
  EXPECT_EQ(Structured(Call(Edit("two", "2"))), (json{{"replacements", 1}}));
  EXPECT_EQ(Get("file"), "one 2 three\r\ncaf\xE9 \xFF");
  Call(Edit(" 2", ""));
  EXPECT_EQ(Get("file"), "one three\r\ncaf\xE9 \xFF");
  EXPECT_THAT(Names(), ElementsAre("file"));
}

TEST_F(Replace, SeveralOccurrencesAreCountedWithTheirLinesAndLeftAlone) {
  Put("file", "x\ny\nx\nx x\n");
  EXPECT_EQ(Error(Edit("x", "z")),
            "old_string was found 4 times in /host/work/file (lines 1, 3, 4); nothing was changed. "
            "Give more of the text around the right one, or set allow_multiple to replace them "
            "all.");
  EXPECT_EQ(Get("file"), "x\ny\nx\nx x\n");
  std::string text;
  for (int i = 0; i < 20; ++i) text += "x\n";
  Put("file", text);
  EXPECT_THAT(Error(Edit("x", "y")), AllOf(HasSubstr("found 20 times"), HasSubstr(", 19, 20)")));
  Put("file", text + "x\n");
  EXPECT_THAT(Error(Edit("x", "y")), HasSubstr(", 19, 20, …)"));
}

TEST_F(Replace, AllOccurrencesAreReplacedIfAllowed) {
  Put("file", "x\ny\nx\n");
  EXPECT_EQ(Structured(Call(EditAll("x", "z"))), (json{{"replacements", 2}}));
  EXPECT_EQ(Get("file"), "z\ny\nz\n");
  EXPECT_EQ(Structured(Call(EditAll("y", "x"))), (json{{"replacements", 1}}));
}

TEST_F(Replace, MissingTextIsAnErrorAlsoWithAllowMultiple) {
  Put("file", "text");
  EXPECT_EQ(Error(Edit("other", "y")),
            "old_string was found 0 times in /host/work/file; nothing was changed.");
  EXPECT_THAT(Error(EditAll("other", "y")), HasSubstr("found 0 times"));
  EXPECT_EQ(Get("file"), "text");
}

TEST_F(Replace, IfOnlyTheFirstLineIsThereTheErrorNamesItsLine) {
  Put("file", "a\n  if (x) {\n    y();\n");
  EXPECT_THAT(Error(Edit("if (x) {\n\ty();", "z")),
              HasSubstr("Its first line is there (line 2), but the text around it"));
}

TEST_F(Replace, EmptyOrEqualStringsAreRefusedWithoutARoundTrip) {
  EXPECT_THAT(Error(Edit("", "y")), HasSubstr("old_string is empty"));
  EXPECT_THAT(Error(Edit("x", "x")), HasSubstr("are the same"));
  EXPECT_EQ(guest->total(), 0);
}

TEST_F(Replace, ReplacementCharactersAreNotPutIntoAFileThatIsNotUtf8) {
  Put("file", "caf\xE9 x");
  EXPECT_THAT(Error(Edit("x", "\uFFFD")), AllOf(HasSubstr("U+FFFD"), HasSubstr("not UTF-8")));
  EXPECT_THAT(Error(Edit("caf\uFFFD", "coffee")),
              AllOf(HasSubstr("found 0 times"), HasSubstr("U+FFFD"), HasSubstr("not UTF-8")));
  EXPECT_EQ(Get("file"), "caf\xE9 x");
}

TEST_F(Replace, ReplacementCharactersAreTextInAUtf8File) {
  Put("file", "a \uFFFD b");
  Call(Edit("\uFFFD", "\uFFFD\uFFFD"));
  EXPECT_EQ(Get("file"), "a \uFFFD\uFFFD b");
}

TEST_F(Replace, MissingAndDeniedFilesAreReportedInUpstreamsWords) {
  EXPECT_EQ(Error(Edit("a", "b", "/host/work/none")), "file does not exist");
  Put("file", "x");
  FailAt(Operation::kOpen, guest::FileErrorCode::kPermissionDenied);
  EXPECT_EQ(Error(Edit("x", "y")), "permission denied");
}

TEST_F(Replace, ReadOnlyRootsAndOtherThanRegularFilesAreRefused) {
  fs::create_directory(work / "directory");
  EXPECT_THAT(Error(Edit("a", "b", "/host/library/file")), HasSubstr("read-only"));
  EXPECT_THAT(Error(Edit("a", "b", "/host/work/directory")), HasSubstr("is a directory"));
}

TEST_F(Replace, LinksAndPermissionsAreKept) {
  Put("target", "old");
  fs::permissions(work / "target", fs::perms(0751));
  fs::create_symlink("target", work / "file");
  Call(Edit("old", "new"));
  EXPECT_TRUE(fs::is_symlink(work / "file"));
  EXPECT_EQ(Get("target"), "new");
  EXPECT_EQ(Status(work / "target").st_mode & 07777U, 0751U);
}

TEST_F(Replace, ThirtyTwoMebibytesAreChangedAndOneByteMoreIsAnError) {
  Put("file", std::string(kMaxReplaceBytes - 1, 'a') + "x");
  Call(Edit("x", "y"));
  EXPECT_EQ(Get("file").back(), 'y');
  EXPECT_THAT(Error(Edit("y", "zz")), HasSubstr("would grow above 33554432 bytes (32 MiB)"));
  Put("file", std::string(kMaxReplaceBytes, 'a') + "x");
  EXPECT_THAT(Error(Edit("x", "y")), AllOf(HasSubstr("has 33554433 bytes"), HasSubstr("32 MiB")));
}

TEST_F(Replace, ChangeMadeBeforeReadingOrMeanwhileStays) {
  for (const Operation when : {Operation::kOpen, Operation::kSync}) {
    Put("file", "one\ntwo\n");
    int seen = 0;
    guest->set_hook([&](Operation operation, const std::string&) {
      if (operation == when && ++seen == 1) Put("file", "one\ntwo\nthree\n");
    });
    Call(Edit("one", "1"));
    EXPECT_EQ(Get("file"), "1\ntwo\nthree\n");
    EXPECT_THAT(Names(), ElementsAre("file"));
  }
}

TEST_F(Replace, ChangeMadeMeanwhileStaysInPlaceToo) {
  Put("file", "one\ntwo\n");
  int opened = 0;
  RefuseNewFiles([&](Operation operation, const std::string&) {
    if (operation == Operation::kOpen && ++opened == 2) Put("file", "one\ntwo\nthree\n");
  });
  const mcp::ToolResult result = Call(Edit("one", "1"));
  EXPECT_EQ(Get("file"), "1\ntwo\nthree\n");
  EXPECT_EQ(Structured(result), (json{{"replacements", 1}}));
  ASSERT_EQ(result.more_content.size(), 1U);
  EXPECT_THAT(result.more_content[0].at("text"), HasSubstr("written in place"));
}

TEST_F(Replace, FileThatChangesAgainAndAgainIsLeftAlone) {
  Put("file", "one");
  std::string others = "one";
  At(Operation::kSync, [&](const std::string&) { Put("file", others += " more"); });
  EXPECT_THAT(Error(Edit("one", "1")), HasSubstr("nothing was changed by this call"));
  EXPECT_EQ(Get("file"), "one more more more");
  EXPECT_THAT(Names(), ElementsAre("file"));
}

TEST_F(Replace, FailureLeavesTheOldFileAndNoTemporaryOne) {
  Put("file", "old");
  for (const Operation where : {Operation::kRead, Operation::kRename}) {
    FailAt(where, guest::FileErrorCode::kFailure);
    EXPECT_THAT(Error(Edit("old", "new")),
                AllOf(HasSubstr("/host/work/file"), Not(HasSubstr(work.string()))))
        << testing_support::Name(where);
    EXPECT_EQ(Get("file"), "old") << testing_support::Name(where);
    EXPECT_THAT(Names(), ElementsAre("file")) << testing_support::Name(where);
  }
}

}  // namespace
}  // namespace tools
