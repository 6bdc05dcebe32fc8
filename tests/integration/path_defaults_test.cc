// Path rules: where glob and search look when they are given no path, and the
// directory of a command.

#include <gmock/gmock.h>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DefaultDirectory : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeFile("one/first.txt", "needle 1\n");
    MakeFile("two/second.txt", "needle 2\n");
    MakeFile("two/sub/third.txt", "needle 3\n");
  }
  std::string Search(const nlohmann::json& arguments) {
    return Call("search_file_content", arguments).value("git_grep_output", "(failed)");
  }
  const std::string one = Path("one").string();
  const std::string two = Path("two").string();
};

TEST_F(DefaultDirectory, IsTheWorkingDirectoryUnderARoot) {
  StartInstance({{one, "", true}, {two, "", true}});
  Serve({.working_directory = two + "/sub"});
  EXPECT_THAT(Glob({{"pattern", "**/*.txt"}}), ElementsAre(two + "/sub/third.txt"));
  EXPECT_EQ(Search({{"pattern", "needle"}}), "third.txt:1:needle 3\n");
}

TEST_F(DefaultDirectory, IsTheWorkingDirectoryAlsoUnderTheOnlyRoot) {
  StartInstance({{two, "", true}});
  Serve({.working_directory = two + "/sub"});
  EXPECT_THAT(Glob({{"pattern", "*.txt"}}), ElementsAre(two + "/sub/third.txt"));
}

TEST_F(DefaultDirectory, IsTheOnlyRootElsewhere) {
  Mount({{one, "", true}});
  EXPECT_THAT(Glob({{"pattern", "*.txt"}}), ElementsAre(one + "/first.txt"));
  EXPECT_EQ(Search({{"pattern", "needle"}}), "first.txt:1:needle 1\n");
}

TEST_F(DefaultDirectory, NullIsLikeNoPath) {
  Mount({{one, "", true}});
  EXPECT_THAT(Glob({{"pattern", "*.txt"}, {"path", nullptr}}), ElementsAre(one + "/first.txt"));
  EXPECT_EQ(Search({{"pattern", "needle"}, {"path", nullptr}, {"include", nullptr}}),
            "first.txt:1:needle 1\n");
}

TEST_F(DefaultDirectory, IsAnErrorThatListsTheRootsAmongSeveral) {
  Mount({{one, "", true}, {two, "", false}});
  const auto lists_both = AllOf(HasSubstr(one + " (writable)"), HasSubstr(two + " (read-only)"));
  EXPECT_THAT(Refusal("glob", {{"pattern", "*"}}), lists_both);
  EXPECT_THAT(Refusal("search_file_content", {{"pattern", "needle"}}), lists_both);
}

TEST_F(DefaultDirectory, IsTheWorkingDirectoryOfAMappedMount) {
  MakeDirectory("host/project");
  MakeFile("guest/project/a.txt", "needle\n");
  StartInstance({{Path("host").string(), Path("guest").string(), true}, {two, "", true}});
  Serve({.working_directory = Path("host/project")});
  EXPECT_THAT(Glob({{"pattern", "*"}}), ElementsAre(Path("host/project/a.txt")));
}

class CommandDirectory : public IntegrationTest {
 protected:
  nlohmann::json Run(const std::vector<std::string>& command, const std::string& directory) {
    return Call("run_shell_command", {{"command", command}, {"directory", directory}});
  }
};

TEST_F(CommandDirectory, IsTranslatedToTheGuest) {
  MakeDirectory("guest/sub");
  Mount({{Path("host").string(), Path("guest").string(), true}});
  EXPECT_EQ(Run({"pwd"}, Path("host/sub")).value("stdout", ""), Path("guest/sub").string() + "\n");
  EXPECT_EQ(Run({"pwd"}, Path("guest/sub")).value("stdout", ""), Path("guest/sub").string() + "\n");
}

TEST_F(CommandDirectory, MayBeReadOnly) {
  MakeFile("root/a.txt", "text");
  Mount({{Path("root").string(), "", false}});
  EXPECT_EQ(Run({"cat", "a.txt"}, Path("root")).value("stdout", ""), "text");
}

TEST_F(CommandDirectory, OutsideIsRefusedBeforeAnythingRuns) {
  MakeDirectory("root");
  MakeDirectory("outside");
  MakeLink("root/link", Path("outside"));
  Mount({{Path("root").string(), "", true}});
  for (const std::string& directory :
       {Path("outside").string(), Path("root/link").string(), Path("root/../outside").string()}) {
    Refusal("run_shell_command", {{"command", {"touch", "ran"}}, {"directory", directory}});
  }
  EXPECT_FALSE(fs::exists(Path("outside/ran")));
}

TEST_F(CommandDirectory, BindsTheDirectoryButNotTheCommand) {
  MakeDirectory("root");
  MakeFile("outside/a.txt", "reachable for a command: the VM is the boundary");
  Mount({{Path("root").string(), "", true}});
  EXPECT_THAT(Run({"cat", Path("outside/a.txt")}, Path("root")).value("stdout", ""),
              HasSubstr("the VM is the boundary"));
}

TEST_F(CommandDirectory, ThatDoesNotExistFailsAsLimactlShellDoes) {
  MakeDirectory("root");
  Mount({{Path("root").string(), "", true}});
  const nlohmann::json result = Run({"true"}, Path("root/missing"));
  EXPECT_EQ(result.value("exit_code", -1), 1);
  EXPECT_THAT(result.value("stderr", ""), HasSubstr("No such file or directory"));
  EXPECT_EQ(result.value("error", ""), "exit status 1");
}

}  // namespace
}  // namespace integration
