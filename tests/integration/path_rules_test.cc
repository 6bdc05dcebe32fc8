// The path rules through the real binary and a real sshd: names of paths, links, access, and the
// default directory. tests/unit/paths has every case of the rules themselves.

#include "integration/fixture.h"

namespace integration {
namespace {

class PathRules : public IntegrationTest {
 protected:
  void MountRoot() {
    MakeFile("outside/secret.txt", "secret");
    StartGuest();
  }
};

TEST_F(PathRules, NamesAreBytesForEveryTool) {
  MountRoot();
  for (const std::string name :
       {"a b", "it's", "\"quoted\"", "$(touch pwned)", "`id`", "; rm x", "-rf", "*", "back\\slash",
        "[x]", "{a,b}", "two\nlines", "%2e%2e", "~", "..foo", "dot."}) {
    const std::string directory = root + "/" + name;
    Write(directory + "/file", "needle\n");
    EXPECT_EQ(Read(directory + "/file"), "needle\n") << name;
    EXPECT_THAT(List(directory), ElementsAre("file")) << name;
    EXPECT_THAT(Glob({{"pattern", "*"}, {"path", directory}}), ElementsAre(directory + "/file"));
    EXPECT_EQ(Search({{"pattern", "needle"}, {"path", directory}}), "file:1:needle\n") << name;
    EXPECT_EQ(Call("run_shell_command", {{"command", {"pwd"}}, {"directory", directory}})
                  .value("stdout", ""),
              directory + "\n");
  }
  EXPECT_FALSE(fs::exists(Path("root/pwned")));
  MakeFile("root /secret.txt", "secret");
  ReadRefusal(root + " /secret.txt");
}

TEST_F(PathRules, HostAndGuestNamesOfAMountWorkInEveryTool) {
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

TEST_F(PathRules, TemplatesAndTheHomeDirectoryInLocationsAreExpanded) {
  MakeFile("lima/default/shared/a.txt", "in the instance directory");
  MakeFile("project/a.txt", "at home");  // HOME is this test's directory
  Mount({{"{{.Dir}}/shared", "", false}, {"~/project", "", false}});
  EXPECT_EQ(Read((LimaHome() / "default/shared/a.txt")), "in the instance directory");
  EXPECT_EQ(Read(Path("project/a.txt")), "at home");
}

TEST_F(PathRules, WhatLeadsOutOfTheRootIsRefusedByEveryTool) {
  MountRoot();
  // One directory under three names.
  MakeLink("root/link", Path("outside"));
  fs::rename(Path("outside"), root + "_sensitive");
  MakeLink("outside", root + "_sensitive");
  for (const std::string& directory :
       {root + "_sensitive", root + "//a/../../outside", root + "/link"}) {
    for (const auto& [tool, arguments] : CallsOfEveryTool(directory, "secret.txt")) {
      EXPECT_THAT(Refusal(tool, arguments), HasSubstr(root + " (writable)")) << tool << directory;
    }
  }
  EXPECT_EQ(ReadFile(Path("outside/secret.txt")), "secret");
  EXPECT_EQ(std::distance(fs::directory_iterator(Path("outside/")), {}), 1);
}

TEST_F(PathRules, GlobAndSearchDoNotLeaveThePath) {
  MountRoot();
  MakeFile("root/inside.txt", "secret too\n");
  MakeDirectory("root/sub");
  MakeLink("root/link", Path("outside"));
  EXPECT_THAT(Glob({{"pattern", "**/*.txt"}, {"path", root}}), ElementsAre(root + "/inside.txt"));
  EXPECT_EQ(Search({{"pattern", "secret"}, {"path", root}}), "inside.txt:1:secret too\n");
  for (const std::string pattern : {"../*", "../outside/*", "sub/../../outside/*", "link/*",
                                    "link/../outside/*", "../../../../../etc/*"}) {
    const json result = client().CallTool("glob", {{"pattern", pattern}, {"path", root}});
    EXPECT_THAT(result.dump(), AllOf(Not(HasSubstr("secret.txt")), Not(HasSubstr("passwd"))))
        << pattern;
  }
}

TEST_F(PathRules, DefaultIsTheWorkingDirectoryUnderARoot) {
  MakeFile("guest/sub/third.txt", "needle\n");
  MakeDirectory("other");
  StartInstance(
      {{Path("host").string(), Path("guest").string(), true}, {Path("other").string(), "", true}});
  Serve({.working_directory = MakeDirectory("host/sub")});
  EXPECT_THAT(Glob({{"pattern", "**/*.txt"}}), ElementsAre(Path("host/sub/third.txt")));
  EXPECT_EQ(Search({{"pattern", "needle"}, {"path", nullptr}}), "third.txt:1:needle\n");
}

TEST_F(PathRules, CommandMayLeaveItsDirectory) {
  MountRoot();
  EXPECT_EQ(Run({"cat", Path("outside/secret.txt")}).value("stdout", ""), "secret")
      << "the VM is the boundary, not the path rules";
}

}  // namespace
}  // namespace integration
