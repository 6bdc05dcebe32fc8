// Path rules: what the guest resolves a path to counts, and must lie under a mount
// again.

#include <gmock/gmock.h>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class PathResolution : public IntegrationTest {
 protected:
  void MountRoot() {
    MakeDirectory("root");
    MakeFile("outside/secret.txt", "secret");
    Mount({{root, "", true}});
  }

  const std::string root = Path("root").string();
};

TEST_F(PathResolution, LinkToAFileOutsideIsRefused) {
  MountRoot();
  MakeLink("root/link", Path("outside/secret.txt"));
  EXPECT_THAT(ReadRefusal(root + "/link"), Not(HasSubstr("secret\n")));
  WriteRefusal(root + "/link");
  EXPECT_EQ(ReadFile(Path("outside/secret.txt")), "secret");
}

TEST_F(PathResolution, RelativeLinkToOutsideIsRefused) {
  MountRoot();
  MakeLink("root/link", "../outside/secret.txt");
  ReadRefusal(root + "/link");
  WriteRefusal(root + "/link");
  EXPECT_EQ(ReadFile(Path("outside/secret.txt")), "secret");
}

TEST_F(PathResolution, LinkToADirectoryOutsideIsRefusedByEveryTool) {
  MountRoot();
  MakeLink("root/link", Path("outside"));
  const std::string link = root + "/link";
  ReadRefusal(link + "/secret.txt");
  WriteRefusal(link + "/secret.txt");
  WriteRefusal(link + "/new.txt");
  Refusal("list_directory", {{"path", link}});
  Refusal("glob", {{"pattern", "*"}, {"path", link}});
  Refusal("search_file_content", {{"pattern", "secret"}, {"path", link}});
  Refusal("run_shell_command", {{"command", {"true"}}, {"directory", link}});
  EXPECT_EQ(ReadFile(Path("outside/secret.txt")), "secret");
  EXPECT_FALSE(fs::exists(Path("outside/new.txt")));
}

TEST_F(PathResolution, GlobAndSearchDoNotFollowALinkOutOfTheRoot) {
  MountRoot();
  MakeFile("root/inside.txt", "secret too\n");
  MakeLink("root/link", Path("outside"));
  EXPECT_THAT(Glob({{"pattern", "**/*.txt"}, {"path", root}}), ElementsAre(root + "/inside.txt"));
  const std::string found = Call("search_file_content", {{"pattern", "secret"}, {"path", root}})
                                .value("git_grep_output", "");
  EXPECT_EQ(found, "inside.txt:1:secret too\n");
}

TEST_F(PathResolution, GlobPatternDoesNotLeaveThePath) {
  MountRoot();
  MakeDirectory("root/sub");
  MakeLink("root/link", Path("outside"));
  for (const std::string pattern : {"../*", "../outside/*", "sub/../../outside/*", "link/*",
                                    "link/../outside/*", "../../../../../etc/*"}) {
    const nlohmann::json result = client().CallTool("glob", {{"pattern", pattern}, {"path", root}});
    EXPECT_THAT(result.dump(), Not(HasSubstr("secret.txt"))) << pattern;
    EXPECT_THAT(result.dump(), Not(HasSubstr("passwd"))) << pattern;
  }
}

TEST_F(PathResolution, DanglingLinkToOutsideIsNotWrittenThrough) {
  MountRoot();
  MakeLink("root/link", Path("outside/pwned"));
  WriteRefusal(root + "/link");
  EXPECT_FALSE(fs::exists(Path("outside/pwned")));
  EXPECT_TRUE(fs::is_symlink(Path("root/link")));
  EXPECT_THAT(List(root), ElementsAre("link"));
}

TEST_F(PathResolution, DanglingLinkToAMissingDirectoryOutsideIsNotWrittenThrough) {
  MountRoot();
  MakeLink("root/link", Path("nowhere/at/all"));
  WriteRefusal(root + "/link");
  WriteRefusal(root + "/link/below");
  EXPECT_FALSE(fs::exists(Path("nowhere")));
}

TEST_F(PathResolution, DanglingLinkToInsideIsWrittenThrough) {
  MountRoot();
  MakeLink("root/link", "target.txt");
  Write(root + "/link", "through the link");
  EXPECT_EQ(ReadFile(Path("root/target.txt")), "through the link");
  EXPECT_TRUE(fs::is_symlink(Path("root/link")));
}

TEST_F(PathResolution, MissingNestedFileUnderALinkedParentIsRefused) {
  MountRoot();
  MakeLink("root/link", Path("outside"));
  WriteRefusal(root + "/link/new/directory/file.txt");
  EXPECT_FALSE(fs::exists(Path("outside/new")));
}

TEST_F(PathResolution, LinkInsideToInsideWorks) {
  MountRoot();
  MakeFile("root/directory/a.txt", "text");
  MakeLink("root/file", "directory/a.txt");
  MakeLink("root/absolute", Path("root/directory"));
  EXPECT_EQ(Read(root + "/file"), "text");
  EXPECT_EQ(Read(root + "/absolute/a.txt"), "text");
  EXPECT_THAT(List(root + "/absolute"), ElementsAre("a.txt"));
  Write(root + "/absolute/new/b.txt", "b");
  EXPECT_EQ(ReadFile(Path("root/directory/new/b.txt")), "b");
  EXPECT_EQ(
      Call("run_shell_command", {{"command", {"cat", "a.txt"}}, {"directory", root + "/absolute"}})
          .value("stdout", ""),
      "text");
}

TEST_F(PathResolution, WriteThroughALinkKeepsTheLink) {
  MountRoot();
  MakeFile("root/a.txt", "old");
  MakeLink("root/link", "a.txt");
  Write(root + "/link", "new");
  EXPECT_TRUE(fs::is_symlink(Path("root/link")));
  EXPECT_EQ(ReadFile(Path("root/a.txt")), "new");
}

TEST_F(PathResolution, ChainOfLinksIsFollowedToItsEnd) {
  MountRoot();
  MakeFile("root/a.txt", "text");
  MakeLink("root/good1", "good2");
  MakeLink("root/good2", Path("root/good3"));
  MakeLink("root/good3", "a.txt");
  MakeLink("root/bad1", "bad2");
  MakeLink("root/bad2", Path("root/bad3"));
  MakeLink("root/bad3", Path("outside/secret.txt"));
  EXPECT_EQ(Read(root + "/good1"), "text");
  ReadRefusal(root + "/bad1");
  WriteRefusal(root + "/bad1");
  EXPECT_EQ(ReadFile(Path("outside/secret.txt")), "secret");
}

TEST_F(PathResolution, ChainOfLinksWithADanglingEndOutsideIsNotWrittenThrough) {
  MountRoot();
  MakeLink("root/first", "second");
  MakeLink("root/second", "../outside/pwned");
  WriteRefusal(root + "/first");
  EXPECT_FALSE(fs::exists(Path("outside/pwned")));
}

TEST_F(PathResolution, LinkThatLeavesAndComesBackIsJudgedByItsEnd) {
  MountRoot();
  MakeFile("root/a.txt", "text");
  MakeLink("outside/back", Path("root"));
  MakeLink("root/out", Path("outside/back"));
  EXPECT_EQ(Read(root + "/out/a.txt"), "text");
}

TEST_F(PathResolution, LoopOfLinksIsAnErrorAtOnce) {
  MountRoot();
  MakeLink("root/loop1", "loop2");
  MakeLink("root/loop2", "loop1");
  MakeLink("root/self", "self");
  for (const std::string name : {"/loop1", "/self", "/self/below", "/loop2/new/file"}) {
    ReadRefusal(root + name);
    WriteRefusal(root + name);
    Refusal("list_directory", {{"path", root + name}});
  }
  EXPECT_TRUE(fs::is_symlink(Path("root/loop1")));
  EXPECT_TRUE(fs::is_symlink(Path("root/self")));
}

TEST_F(PathResolution, LinkFromOneRootIntoAnotherHasTheOthersAccess) {
  MakeDirectory("writable");
  MakeFile("readonly/a.txt", "text");
  MakeLink("writable/link", Path("readonly"));
  Mount({{Path("writable").string(), "", true}, {Path("readonly").string(), "", false}});
  EXPECT_EQ(Read(Path("writable/link/a.txt")), "text");
  EXPECT_THAT(WriteRefusal(Path("writable/link/a.txt")), HasSubstr("read-only"));
  EXPECT_EQ(ReadFile(Path("readonly/a.txt")), "text");
}

TEST_F(PathResolution, NestedReadOnlyMountInAWritableOneIsReadOnly) {
  MakeFile("outer/inner/a.txt", "text");
  Mount({{Path("outer").string(), "", true}, {Path("outer/inner").string(), "", false}});
  EXPECT_EQ(Read(Path("outer/inner/a.txt")), "text");
  EXPECT_THAT(WriteRefusal(Path("outer/inner/a.txt")), HasSubstr("read-only"));
  EXPECT_THAT(WriteRefusal(Path("outer/inner/new/b.txt")), HasSubstr("read-only"));
  Write(Path("outer/b.txt"), "b");
  EXPECT_EQ(ReadFile(Path("outer/inner/a.txt")), "text");
  EXPECT_FALSE(fs::exists(Path("outer/inner/new")));
}

TEST_F(PathResolution, NestedReadOnlyMountIsReadOnlyThroughALinkToo) {
  MakeFile("outer/inner/a.txt", "text");
  MakeLink("outer/link", "inner");
  Mount({{Path("outer").string(), "", true}, {Path("outer/inner").string(), "", false}});
  EXPECT_THAT(WriteRefusal(Path("outer/link/a.txt")), HasSubstr("read-only"));
}

TEST_F(PathResolution, NestedWritableMountInAReadOnlyOneIsWritable) {
  MakeDirectory("outer/inner");
  Mount({{Path("outer").string(), "", false}, {Path("outer/inner").string(), "", true}});
  Write(Path("outer/inner/a.txt"), "a");
  EXPECT_EQ(ReadFile(Path("outer/inner/a.txt")), "a");
  EXPECT_THAT(WriteRefusal(Path("outer/b.txt")), HasSubstr("read-only"));
}

TEST_F(PathResolution, MountPointThatIsALinkCountsResolved) {
  MakeFile("volumes/share/a.txt", "text");
  MakeLink("mnt", Path("volumes/share"));
  const std::string host = Path("host");
  Mount({{host, Path("mnt").string(), true}});
  EXPECT_EQ(Read(host + "/a.txt"), "text");
  Write(host + "/b.txt", "b");
  EXPECT_EQ(ReadFile(Path("volumes/share/b.txt")), "b");
  EXPECT_THAT(Glob({{"pattern", "a*"}, {"path", host}}), ElementsAre(host + "/a.txt"));
  ReadRefusal(Path("volumes/other"));
}

TEST_F(PathResolution, LinkIntoProcIsRefused) {
  if (!fs::exists("/proc/self/root")) GTEST_SKIP() << Skipping("this machine has no /proc");
  MountRoot();
  MakeFile("root/a.txt", "text");
  MakeLink("root/slash", "/proc/self/root");
  MakeLink("root/cwd", "/proc/self/cwd");
  ReadRefusal(root + "/slash" + Path("outside/secret.txt").string());
  ReadRefusal("/proc/self/root" + root + "/a.txt");
  ReadRefusal("/proc/self/root" + Path("outside/secret.txt").string());
  Refusal("list_directory", {{"path", root + "/slash"}});
  Refusal("list_directory", {{"path", root + "/cwd"}});
  WriteRefusal(root + "/slash" + Path("outside/new").string());
  EXPECT_FALSE(fs::exists(Path("outside/new")));
}

}  // namespace
}  // namespace integration
