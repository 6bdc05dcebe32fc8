// The path rules through the real binary and a real sshd: names of paths, links, access, and the
// default directory. tests/unit/paths has every case of the rules themselves.

#include <gmock/gmock.h>

#include <map>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;

class PathTest : public IntegrationTest {
 protected:
  void MountRoot() {
    MakeDirectory("root");
    MakeFile("outside/secret.txt", "secret");
    Mount({{root, "", true}});
  }
  /// Calls every tool with this directory, and the file tools with a file in it.
  std::map<std::string, std::string> RefusalsOfEveryTool(const std::string& directory) {
    const std::string file = directory + "/secret.txt";
    const std::vector<std::pair<std::string, json>> calls = {
        {"glob", {{"pattern", "*"}, {"path", directory}}},
        {"list_directory", {{"path", directory}}},
        {"read_file", {{"path", file}}},
        {"replace", {{"path", file}, {"old_string", "secret"}, {"new_string", "public"}}},
        {"run_shell_command", {{"command", {"touch", "ran"}}, {"directory", directory}}},
        {"search_file_content", {{"pattern", "secret"}, {"path", directory}}},
        {"write_file", {{"path", directory + "/new.txt"}, {"content", "x"}}},
    };
    std::map<std::string, std::string> refusals;
    for (const auto& [tool, arguments] : calls) refusals[tool] = Refusal(tool, arguments);
    return refusals;
  }

  const std::string root = Path("root").string();
};

using PathForm = PathTest;
using PathTranslation = PathTest;
using PathResolution = PathTest;
using DefaultDirectory = PathTest;

TEST_F(PathForm, RelativeEmptyAndNulPathsAreRefused) {
  MountRoot();
  EXPECT_THAT(ReadRefusal("sub/a.txt"),
              AllOf(HasSubstr("expected an absolute path"), HasSubstr(root + "/sub/a.txt")));
  EXPECT_THAT(ReadRefusal("~/a.txt"), HasSubstr("expected an absolute path"));
  EXPECT_THAT(Refusal("run_shell_command", {{"command", {"true"}}, {"directory", "sub"}}),
              AllOf(HasSubstr("expected an absolute path"), HasSubstr(root + "/sub")));
  EXPECT_THAT(WriteRefusal(""), HasSubstr("empty"));
  EXPECT_THAT(WriteRefusal(root + "/b.txt\0.png"s), HasSubstr("NUL"));
  EXPECT_TRUE(fs::is_empty(root));
}

TEST_F(PathForm, DotsAreCleanedAsTextAndDoNotLeaveTheRoot) {
  MountRoot();
  MakeFile("root/a.txt", "beside the link");
  MakeDirectory("outside/directory");
  MakeLink("root/link", Path("outside/directory"));
  for (const std::string& path :
       {root + "/./a.txt", "/" + root + "//a.txt", root + "/missing/../a.txt",
        "/../../.." + root + "/a.txt", root + "/link/../a.txt"}) {
    EXPECT_EQ(Read(path), "beside the link") << path;
  }
  EXPECT_THAT(ReadRefusal(root + "/../outside/secret.txt"),
              HasSubstr(Path("outside/secret.txt").string()));
  EXPECT_THAT(RefusalsOfEveryTool(root + "//a/../../outside"), ::testing::SizeIs(7));
  EXPECT_FALSE(fs::exists(Path("outside/ran")));
  EXPECT_FALSE(fs::exists(Path("outside/new.txt")));
}

TEST_F(PathForm, NamesAreBytesForEveryTool) {
  MountRoot();
  for (const std::string name :
       {"a b", "it's", "\"quoted\"", "$(touch pwned)", "`id`", "; rm x", "-rf", "*", "back\\slash",
        "[x]", "{a,b}", "two\nlines", "%2e%2e", "~", "..foo", "dot."}) {
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
  MakeFile("root /secret.txt", "secret");
  ReadRefusal(root + " /secret.txt");
}

TEST_F(PathTranslation, HostAndGuestNamesOfAMountWorkInEveryTool) {
  MakeFile("guest/sub/a.txt", "needle\n");
  const std::string host = Path("host/project");  // does not exist on this machine
  const std::string guest = Path("guest");
  Mount({{host, guest, true}});
  for (const std::string& name : {host, guest}) {
    EXPECT_EQ(Read(name + "/sub/a.txt"), "needle\n");
    EXPECT_THAT(List(name + "/"), ElementsAre("sub"));
    EXPECT_THAT(Glob({{"pattern", "**/*.txt"}, {"path", name}}), ElementsAre(host + "/sub/a.txt"));
    const json pwd = {{"command", {"pwd"}}, {"directory", name + "/sub"}};
    EXPECT_EQ(Call("run_shell_command", pwd).value("stdout", ""), guest + "/sub\n");
    Write(name + "/sub/b", name);
    EXPECT_EQ(ReadFile(Path("guest/sub/b")), name);
  }
  EXPECT_FALSE(fs::exists(Path("host")));
}

TEST_F(PathTranslation, ResolvedNameOfALinkedLocationWorks) {
  MakeDirectory("real/project");
  MakeLink("linked", Path("real"));
  MakeFile("guest/a.txt", "in the guest");
  const std::string location = Path("linked/project");
  Mount({{location, Path("guest").string(), true}});
  EXPECT_EQ(Read(location + "/a.txt"), "in the guest");
  EXPECT_EQ(Read(Path("real/project/a.txt")), "in the guest");
}

TEST_F(PathTranslation, LongestMountCountsAndThenTheHostsName) {
  const std::string both = Path("both");
  MakeFile("both/a.txt", "the mount point of the first");
  MakeFile("elsewhere/a.txt", "the location of the second");
  MakeFile("inner/a.txt", "in the nested mount");
  Mount({{Path("first").string(), both, true},
         {both, Path("elsewhere").string(), true},
         {both + "/nested", Path("inner").string(), true}});
  EXPECT_EQ(Read(both + "/a.txt"), "the location of the second");
  EXPECT_EQ(Read(Path("first/a.txt")), "the mount point of the first");
  EXPECT_EQ(Read(both + "/nested/a.txt"), "in the nested mount");
}

TEST_F(PathTranslation, NameThatOnlyBeginsLikeARootIsRefusedByEveryTool) {
  MountRoot();
  MakeFile("root_sensitive/secret.txt", "secret");
  for (const auto& [tool, text] : RefusalsOfEveryTool(root + "_sensitive")) {
    EXPECT_THAT(text, AllOf(HasSubstr(root + "_sensitive"), HasSubstr(root + " (writable)")))
        << tool;
  }
  EXPECT_EQ(ReadFile(Path("root_sensitive/secret.txt")), "secret");
  EXPECT_FALSE(fs::exists(Path("root_sensitive/ran")));
}

TEST_F(PathTranslation, TemplatesAndTheHomeDirectoryInLocationsAreExpanded) {
  MakeFile("lima/default/shared/a.txt", "in the instance directory");
  MakeFile("project/a.txt", "at home");  // HOME is this test's directory
  Mount({{"{{.Dir}}/shared", "", false}, {"~/project", "", false}});
  EXPECT_EQ(Read((LimaHome() / "default/shared/a.txt")), "in the instance directory");
  EXPECT_EQ(Read(Path("project/a.txt")), "at home");
}

TEST_F(PathTranslation, RootDirectoryMayBeARoot) {
  MakeFile("anywhere/a.txt", "text");
  Mount({{root, "", true}}, {"--allow-path", "/"});
  EXPECT_EQ(Read(Path("anywhere/a.txt")), "text");
  EXPECT_THAT(List("/"), ::testing::Contains("etc"));
  EXPECT_THAT(WriteRefusal(Path("anywhere/b.txt")), HasSubstr("read-only"));
}

// Links.

TEST_F(PathResolution, LinkOutOfTheRootIsRefusedByEveryTool) {
  MountRoot();
  MakeLink("root/link", Path("outside"));
  for (const auto& [tool, text] : RefusalsOfEveryTool(root + "/link")) {
    EXPECT_THAT(text, AllOf(HasSubstr(root + "/link"), HasSubstr(root + " (writable)"))) << tool;
  }
  EXPECT_EQ(ReadFile(Path("outside/secret.txt")), "secret");
  EXPECT_FALSE(fs::exists(Path("outside/new.txt")));
  EXPECT_FALSE(fs::exists(Path("outside/ran")));
}

TEST_F(PathResolution, NothingIsWrittenThroughALinkOutOfTheRoot) {
  MountRoot();
  MakeLink("root/file", "../outside/secret.txt");
  MakeLink("root/dangling", Path("outside/pwned"));
  MakeLink("root/missing", Path("nowhere/at/all"));
  MakeLink("root/first", "second");
  MakeLink("root/second", "../outside/pwned");
  MakeLink("root/directory", Path("outside"));
  for (const char* name : {"file", "dangling", "missing", "missing/below", "first",
                           "directory/new/directory/file.txt"}) {
    WriteRefusal(root + "/" + name);
  }
  EXPECT_EQ(ReadFile(Path("outside/secret.txt")), "secret");
  EXPECT_EQ(std::distance(fs::directory_iterator(Path("outside")), {}), 1);
  EXPECT_FALSE(fs::exists(Path("nowhere")));
}

TEST_F(PathResolution, GlobAndSearchDoNotLeaveThePath) {
  MountRoot();
  MakeFile("root/inside.txt", "secret too\n");
  MakeDirectory("root/sub");
  MakeLink("root/link", Path("outside"));
  EXPECT_THAT(Glob({{"pattern", "**/*.txt"}, {"path", root}}), ElementsAre(root + "/inside.txt"));
  EXPECT_EQ(Call("search_file_content", {{"pattern", "secret"}, {"path", root}})
                .value("git_grep_output", ""),
            "inside.txt:1:secret too\n");
  for (const std::string pattern : {"../*", "../outside/*", "sub/../../outside/*", "link/*",
                                    "link/../outside/*", "../../../../../etc/*"}) {
    const json result = client().CallTool("glob", {{"pattern", pattern}, {"path", root}});
    EXPECT_THAT(result.dump(), AllOf(Not(HasSubstr("secret.txt")), Not(HasSubstr("passwd"))))
        << pattern;
  }
}

TEST_F(PathResolution, LinksWithinTheRootWork) {
  MountRoot();
  MakeFile("root/directory/a.txt", "text");
  MakeLink("root/file", "chain");
  MakeLink("root/chain", Path("root/directory/a.txt"));
  MakeLink("outside/back", Path("root"));
  MakeLink("root/out", Path("outside/back"));
  MakeLink("root/dangling", "target.txt");
  EXPECT_EQ(Read(root + "/file"), "text");
  EXPECT_EQ(Read(root + "/out/directory/a.txt"), "text");
  Write(root + "/dangling", "through the link");
  Write(root + "/file", "new");
  EXPECT_EQ(ReadFile(Path("root/target.txt")), "through the link");
  EXPECT_EQ(ReadFile(Path("root/directory/a.txt")), "new");
  EXPECT_TRUE(fs::is_symlink(Path("root/dangling")));
  EXPECT_TRUE(fs::is_symlink(Path("root/file")));
}

TEST_F(PathResolution, LoopsOfLinksAreRefused) {
  MountRoot();
  MakeLink("root/loop1", "loop2");
  MakeLink("root/loop2", "loop1");
  MakeLink("root/self", "self");
  for (const std::string name : {"/loop1", "/self", "/self/below", "/loop2/new/file"}) {
    EXPECT_THAT(ReadRefusal(root + name), HasSubstr("loop of symbolic links"));
    WriteRefusal(root + name);
    Refusal("list_directory", {{"path", root + name}});
  }
  EXPECT_TRUE(fs::is_symlink(Path("root/loop1")));
}

TEST_F(PathResolution, DescriptorsAndProcAreRefused) {
  if (!fs::exists("/proc/self/root")) GTEST_SKIP() << Skipping("this machine has no /proc");
  MountRoot();
  MakeLink("root/fd", "/dev/fd/0");
  MakeLink("root/slash", "/proc/self/root");
  for (const std::string& path :
       {"/dev/fd/3"s, "/dev/stdin"s, "/proc/self/cwd/a.txt"s, "/proc/self/root/etc/passwd"s,
        "/proc/self/root" + root + "/a.txt", root + "/fd",
        root + "/slash" + Path("outside/secret.txt").string()}) {
    ReadRefusal(path);
    WriteRefusal(path);
  }
  EXPECT_EQ(ReadFile(Path("outside/secret.txt")), "secret");
}

// Access.

TEST_F(PathResolution, InnermostMountDecidesAlsoThroughALink) {
  MakeFile("outer/inner/a.txt", "text");
  MakeDirectory("readonly/drafts");
  MakeLink("outer/link", "inner");
  MakeLink("outer/away", Path("readonly"));
  Mount({{Path("outer").string(), "", true},
         {Path("outer/inner").string(), "", false},
         {Path("readonly").string(), "", false},
         {Path("readonly/drafts").string(), "", true}});
  for (const char* path :
       {"outer/inner/a.txt", "outer/inner/new/b.txt", "outer/link/a.txt", "outer/away/b.txt"}) {
    EXPECT_THAT(WriteRefusal(Path(path)), HasSubstr("read-only")) << path;
  }
  EXPECT_EQ(Read(Path("outer/link/a.txt")), "text");
  EXPECT_FALSE(fs::exists(Path("outer/inner/new")));
  Write(Path("outer/b.txt"), "b");
  Write(Path("readonly/drafts/a.txt"), "a");
}

TEST_F(PathResolution, ReadOnlyRefusalSaysHowToMakeTheMountWritable) {
  MakeFile("readonly/a.txt", "text");
  const std::string readonly = Path("readonly");
  MakeDirectory("root");
  Mount({{readonly, "", false}, {root, "", true}});
  EXPECT_THAT(
      WriteRefusal(readonly + "/a.txt"),
      AllOf(HasSubstr(readonly + "/a.txt is read-only"), HasSubstr("limactl stop default"),
            HasSubstr("limactl edit default --start --set"),
            HasSubstr("{\"location\":\"" + readonly + "\""), HasSubstr(root + " (writable)")));
  EXPECT_EQ(ReadFile(readonly + "/a.txt"), "text");
}

TEST_F(PathResolution, RefusalDoesNotRevealWhatExistsOutside) {
  MountRoot();
  const auto text_after = [this](const std::string& path) {
    return ReadRefusal(path).substr(path.size());
  };
  EXPECT_EQ(text_after(Path("outside/secret.txt")), text_after(Path("outside/missing")));
}

// Without a path.

TEST_F(DefaultDirectory, IsTheWorkingDirectoryUnderARoot) {
  MakeFile("guest/sub/third.txt", "needle\n");
  MakeDirectory("other");
  StartInstance(
      {{Path("host").string(), Path("guest").string(), true}, {Path("other").string(), "", true}});
  Serve({.working_directory = MakeDirectory("host/sub")});
  EXPECT_THAT(Glob({{"pattern", "**/*.txt"}}), ElementsAre(Path("host/sub/third.txt")));
  EXPECT_EQ(Call("search_file_content", {{"pattern", "needle"}, {"path", nullptr}})
                .value("git_grep_output", ""),
            "third.txt:1:needle\n");
}

TEST_F(DefaultDirectory, IsTheOnlyRootElsewhere) {
  MakeFile("root/first.txt", "");
  Mount({{root, "", true}});
  EXPECT_THAT(Glob({{"pattern", "*.txt"}}), ElementsAre(root + "/first.txt"));
}

TEST_F(DefaultDirectory, IsAnErrorThatListsSeveralRoots) {
  MakeDirectory("root");
  MakeDirectory("two");
  Mount({{root, "", true}, {Path("two").string(), "", false}});
  EXPECT_THAT(
      Refusal("search_file_content", {{"pattern", "needle"}}),
      AllOf(HasSubstr(root + " (writable)"), HasSubstr(Path("two").string() + " (read-only)")));
}

TEST_F(PathTest, CommandMayLeaveItsDirectory) {
  MountRoot();
  const json command = {{"command", {"cat", Path("outside/secret.txt")}}, {"directory", root}};
  EXPECT_EQ(Call("run_shell_command", command).value("stdout", ""), "secret")
      << "the VM is the boundary, not the path rules";
}

TEST_F(PathTest, CommandInAMissingDirectoryFailsAsInLimactlShell) {
  MountRoot();
  const json result =
      Call("run_shell_command", {{"command", {"true"}}, {"directory", root + "/missing"}});
  EXPECT_EQ(result.value("exit_code", -1), 1);
  EXPECT_THAT(result.value("stderr", ""), HasSubstr("No such file or directory"));
  EXPECT_EQ(result.value("error", ""), "exit status 1");
}

TEST_F(PathTest, InstanceWithoutMountsRefusesAndSaysSo) {
  Mount({});
  EXPECT_THAT(Refusal("list_directory", {{"path", "/"}}), HasSubstr("may be used: none"));
}

}  // namespace
}  // namespace integration
