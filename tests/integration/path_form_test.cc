// Path rules: paths that are no paths, and the clean-up before the match. Names are
// bytes: nothing is decoded, trimmed or expanded.

#include <gmock/gmock.h>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;

class PathForm : public IntegrationTest {
 protected:
  void MountRoot() {
    MakeDirectory("root");
    MakeFile("outside/secret.txt", "secret");
    Mount({{root, "", true}});
  }

  const std::string root = Path("root").string();
};

TEST_F(PathForm, RelativePathIsRefusedAndTheOnlyRootsPathProposed) {
  MountRoot();
  MakeFile("root/sub/a.txt", "text");
  EXPECT_THAT(ReadRefusal("sub/a.txt"),
              AllOf(HasSubstr("expected an absolute path"), HasSubstr(root + "/sub/a.txt")));
  EXPECT_THAT(ReadRefusal("./sub/a.txt"), HasSubstr(root + "/sub/a.txt"));
  EXPECT_THAT(WriteRefusal("b.txt"), HasSubstr("expected an absolute path"));
  EXPECT_THAT(Refusal("list_directory", {{"path", "."}}), HasSubstr("expected an absolute path"));
  EXPECT_THAT(Refusal("run_shell_command", {{"command", {"true"}}, {"directory", "sub"}}),
              AllOf(HasSubstr("expected an absolute path"), HasSubstr(root + "/sub")));
}

TEST_F(PathForm, RelativePathIsProposedUnderTheWorkingDirectoryAmongSeveralRoots) {
  MakeDirectory("one");
  MakeDirectory("two/here");
  StartInstance({{Path("one").string(), "", true}, {Path("two").string(), "", true}});
  Serve({.working_directory = Path("two/here")});
  EXPECT_THAT(ReadRefusal("a.txt"), AllOf(HasSubstr("expected an absolute path"),
                                          HasSubstr(Path("two/here/a.txt").string())));
}

TEST_F(PathForm, RelativePathHasNoProposalAmongSeveralRootsFromElsewhere) {
  MakeDirectory("one");
  MakeDirectory("two");
  Mount({{Path("one").string(), "", true}, {Path("two").string(), "", true}});
  EXPECT_THAT(ReadRefusal("a.txt"),
              AllOf(HasSubstr("expected an absolute path"), Not(HasSubstr("/a.txt"))));
}

TEST_F(PathForm, EmptyPathIsRefused) {
  MountRoot();
  EXPECT_THAT(ReadRefusal(""), HasSubstr("empty"));
  WriteRefusal("");
  Refusal("list_directory", {{"path", ""}});
  Refusal("run_shell_command", {{"command", {"true"}}, {"directory", ""}});
}

TEST_F(PathForm, PathWithNulIsRefused) {
  MountRoot();
  MakeFile("root/a.txt", "text");
  EXPECT_THAT(ReadRefusal(root + "/a.txt\0.png"s), HasSubstr("NUL"));
  EXPECT_THAT(WriteRefusal(root + "/b.txt\0"s), HasSubstr("NUL"));
  Refusal("list_directory", {{"path", root + "\0/../outside"s}});
  Refusal("run_shell_command", {{"command", {"true"}}, {"directory", root + "\0"s}});
  EXPECT_FALSE(fs::exists(Path("root/b.txt")));
}

TEST_F(PathForm, DotsAndDoubleSlashesAreCleanedBeforeTheMatch) {
  MountRoot();
  MakeFile("root/a.txt", "text");
  EXPECT_EQ(Read(root + "/./a.txt"), "text");
  EXPECT_EQ(Read(root + "//a.txt"), "text");
  EXPECT_EQ(Read("/" + root + "/a.txt"), "text");
  EXPECT_EQ(Read(root + "/missing/../a.txt"), "text");
  EXPECT_EQ(Read(root + "/../root/a.txt"), "text");
  EXPECT_EQ(Read("/../../.." + root + "/a.txt"), "text");
  EXPECT_EQ(Read(root + "/a.txt/"), "text");
}

TEST_F(PathForm, DotsThatLeaveTheRootAreRefused) {
  MountRoot();
  const std::string secret = Path("outside/secret.txt");
  EXPECT_THAT(ReadRefusal(root + "/../outside/secret.txt"), HasSubstr(secret));
  ReadRefusal(root + "//../outside/secret.txt");
  ReadRefusal(root + "/a/b/../../../outside/secret.txt");
  WriteRefusal(root + "/../outside/new.txt");
  Refusal("list_directory", {{"path", root + "/.."}});
  Refusal("run_shell_command", {{"command", {"true"}}, {"directory", root + "/.."}});
  EXPECT_FALSE(fs::exists(Path("outside/new.txt")));
}

TEST_F(PathForm, DotsAreCleanedAsTextAlsoBehindALink) {
  MountRoot();
  MakeFile("root/a.txt", "beside the link");
  MakeFile("outside/a.txt", "behind the link");
  MakeDirectory("outside/directory");
  MakeLink("root/link", Path("outside/directory"));
  EXPECT_EQ(Read(root + "/link/../a.txt"), "beside the link");
}

TEST_F(PathForm, PercentEncodingIsALiteralName) {
  MountRoot();
  EXPECT_EQ(ReadRefusal(root + "/%2e%2e/outside/secret.txt"), "file does not exist");
  Write(root + "/%2e%2e/a.txt", "literal");
  EXPECT_EQ(ReadFile(Path("root/%2e%2e/a.txt")), "literal");
}

TEST_F(PathForm, TildeIsNotExpanded) {
  MountRoot();
  EXPECT_THAT(ReadRefusal("~/a.txt"), HasSubstr("expected an absolute path"));
  Write(root + "/~", "a name");
  EXPECT_EQ(ReadFile(Path("root/~")), "a name");
}

TEST_F(PathForm, TrailingSpaceAndDotBelongToTheName) {
  MountRoot();
  MakeFile("root/name", "plain");
  MakeFile("root/name ", "space");
  MakeFile("root/name.", "dot");
  MakeFile("root /secret.txt", "secret");
  EXPECT_EQ(Read(root + "/name"), "plain");
  EXPECT_EQ(Read(root + "/name "), "space");
  EXPECT_EQ(Read(root + "/name."), "dot");
  ReadRefusal(root + " /secret.txt");
  ReadRefusal(" " + root + "/name");
}

TEST_F(PathForm, NewlinesInNamesSurviveEveryTool) {
  MountRoot();
  const std::string name = "two\nlines.txt";
  Write(root + "/" + name, "needle\n");
  EXPECT_EQ(ReadFile(Path("root/" + name)), "needle\n");
  EXPECT_EQ(Read(root + "/" + name), "needle\n");
  EXPECT_THAT(List(root), ElementsAre(name));
  EXPECT_THAT(Glob({{"pattern", "*.txt"}, {"path", root}}), ElementsAre(root + "/" + name));
  EXPECT_THAT(Call("search_file_content", {{"pattern", "needle"}, {"path", root}})
                  .value("git_grep_output", ""),
              HasSubstr("needle"));
}

TEST_F(PathForm, QuotesAndShellCharactersInNamesStayNames) {
  MountRoot();
  for (const std::string name : {"a b", "it's", "\"quoted\"", "$(touch pwned)", "`id`", "; rm x",
                                 "-rf", "*", "back\\slash", "[x]", "{a,b}"}) {
    const std::string directory = root + "/" + name;
    Write(directory + "/file", "needle\n");
    EXPECT_EQ(Read(directory + "/file"), "needle\n") << name;
    EXPECT_THAT(List(directory), ElementsAre("file")) << name;
    EXPECT_THAT(Glob({{"pattern", "*"}, {"path", directory}}), ElementsAre(directory + "/file"));
    EXPECT_THAT(Call("search_file_content", {{"pattern", "needle"}, {"path", directory}})
                    .value("git_grep_output", ""),
                HasSubstr("file:1:needle"))
        << name;
    EXPECT_EQ(Call("run_shell_command", {{"command", {"pwd"}}, {"directory", directory}})
                  .value("stdout", ""),
              directory + "\n");
  }
  EXPECT_FALSE(fs::exists(Path("root/pwned")));
}

TEST_F(PathForm, ComposedAndDecomposedLettersAreDifferentNamesWhereTheGuestSaysSo) {
#ifdef __APPLE__
  GTEST_SKIP() << Skipping("this machine's file system takes both spellings for one name");
#endif
  MountRoot();
  MakeFile("root/\u00e9", "composed");
  MakeFile("root/e\u0301", "decomposed");
  EXPECT_EQ(Read(root + "/\u00e9"), "composed");
  EXPECT_EQ(Read(root + "/e\u0301"), "decomposed");
}

}  // namespace
}  // namespace integration
