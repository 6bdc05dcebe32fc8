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

class PathRules : public IntegrationTest {
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
    for (const auto& [tool, text] : RefusalsOfEveryTool(directory)) {
      EXPECT_THAT(text, HasSubstr(root + " (writable)")) << tool << " " << directory;
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

TEST_F(PathRules, DefaultIsTheWorkingDirectoryUnderARoot) {
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

TEST_F(PathRules, CommandMayLeaveItsDirectory) {
  MountRoot();
  const json command = {{"command", {"cat", Path("outside/secret.txt")}}, {"directory", root}};
  EXPECT_EQ(Call("run_shell_command", command).value("stdout", ""), "secret")
      << "the VM is the boundary, not the path rules";
}

}  // namespace
}  // namespace integration
