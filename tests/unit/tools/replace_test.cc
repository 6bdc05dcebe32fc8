#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "file_tool_fixture.h"

namespace tools {
namespace {

using guest::Operation;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Replace : public FileToolTest {
 protected:
  Replace() : FileToolTest("replace") {}

  static json Edit(const std::string& old_string, const std::string& new_string) {
    return {{"path", "/host/work/file"}, {"old_string", old_string}, {"new_string", new_string}};
  }
};

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
