// replace through the real binary and a real sshd.

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ReplaceTool : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeDirectory("root");
    Mount({{root, "", true}});
  }
  json Edit(const std::string& old_string, const std::string& new_string) const {
    return {{"path", root + "/a.txt"}, {"old_string", old_string}, {"new_string", new_string}};
  }
  const std::string root = Path("root").string();
};

TEST_F(ReplaceTool, ReplacesTheOneOccurrence) {
  MakeFile("root/a.txt", "one two three");
  EXPECT_EQ(Call("replace", Edit("two", "2")), (json{{"replacements", 1}}));
  EXPECT_EQ(ReadFile(Path("root/a.txt")), "one 2 three");
  EXPECT_THAT(List(root), ElementsAre("a.txt"));
}

TEST_F(ReplaceTool, SeveralOccurrencesNeedLeave) {
  MakeFile("root/a.txt", "x\nx\n");
  json arguments = Edit("x", "y");
  EXPECT_THAT(Refusal("replace", arguments),
              AllOf(HasSubstr("2 times"), HasSubstr("lines 1, 2"), HasSubstr("allow_multiple")));
  EXPECT_EQ(ReadFile(Path("root/a.txt")), "x\nx\n");
  arguments["allow_multiple"] = true;
  EXPECT_EQ(Call("replace", arguments), (json{{"replacements", 2}}));
  EXPECT_EQ(ReadFile(Path("root/a.txt")), "y\ny\n");
}

TEST_F(ReplaceTool, TextThatIsNotThereIsAnError) {
  MakeFile("root/a.txt", "text");
  EXPECT_THAT(Refusal("replace", Edit("other", "y")), HasSubstr("0 times"));
  EXPECT_EQ(ReadFile(Path("root/a.txt")), "text");
}

TEST_F(ReplaceTool, MissingFileDoesNotExist) {
  EXPECT_EQ(Refusal("replace", Edit("a", "b")), "file does not exist");
}

TEST_F(ReplaceTool, CarriageReturnsOfTheFileStay) {
  MakeFile("root/a.txt", "one\r\ntwo\r\nthree\r\n");
  Call("replace", Edit("one\ntwo\n", "1\n2\n"));
  EXPECT_EQ(ReadFile(Path("root/a.txt")), "1\r\n2\r\nthree\r\n");
}

TEST_F(ReplaceTool, BytesOfAnotherEncodingStayAndAreNotLostByAReplacementCharacter) {
  MakeFile("root/a.txt", "caf\xE9 x");
  Refusal("replace", Edit("x", "\uFFFD"));
  Call("replace", Edit("x", "y"));
  EXPECT_EQ(ReadFile(Path("root/a.txt")), "caf\xE9 y");
}

TEST_F(ReplaceTool, KeepsModeAndLink) {
  MakeFile("root/target", "old");
  ASSERT_EQ(::chmod(Path("root/target").c_str(), 0751), 0);
  MakeLink("root/a.txt", "target");
  Call("replace", Edit("old", "new"));
  EXPECT_TRUE(fs::is_symlink(Path("root/a.txt")));
  EXPECT_EQ(ReadFile(Path("root/target")), "new");
  EXPECT_EQ(ModeOf(Path("root/target")), 0751U);
}

TEST_F(ReplaceTool, OutsideAndReadOnlyAreRefused) {
  MakeFile("outside/a.txt", "old");
  MakeLink("root/a.txt", Path("outside/a.txt"));
  EXPECT_THAT(Refusal("replace", Edit("old", "new")), HasSubstr("outside"));
  EXPECT_EQ(ReadFile(Path("outside/a.txt")), "old");
}

}  // namespace
}  // namespace integration
