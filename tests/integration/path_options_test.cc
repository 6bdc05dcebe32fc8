// The options of serve that change the roots: --allow-path, --root, --allow-settings.

#include <gmock/gmock.h>

#include <algorithm>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing_support::ProcessResult;

class AllowPath : public IntegrationTest {
 protected:
  void MountWith(const std::vector<std::string>& serve_options) {
    MakeDirectory("root");
    Mount({{Path("root").string(), "", true}}, serve_options);
  }
};

TEST_F(AllowPath, AddsGuestDirectories) {
  MakeFile("one/a.txt", "1");
  MakeFile("two/a.txt", "2");
  MakeFile("outside/secret.txt", "secret");
  MakeLink("one/link", Path("outside"));
  MountWith({"--allow-path", Path("one"), "--allow-path=" + Path("two").string() + ":w"});
  EXPECT_EQ(Read(Path("one/a.txt")), "1");
  EXPECT_THAT(WriteRefusal(Path("one/b.txt")),
              AllOf(HasSubstr("--allow-path " + Path("one").string() + ":w"),
                    Not(HasSubstr("limactl edit"))));
  ReadRefusal(Path("one/link/secret.txt"));
  Write(Path("two/b.txt"), "2");
  EXPECT_THAT(Glob({{"pattern", "b*"}, {"path", Path("two")}}), ElementsAre(Path("two/b.txt")));
  EXPECT_THAT(ReadRefusal("/etc/passwd"), AllOf(HasSubstr(Path("one").string() + " (read-only)"),
                                                HasSubstr(Path("two").string() + " (writable)"),
                                                HasSubstr(Path("root").string() + " (writable)")));
}

TEST_F(AllowPath, RelativeDirectoryEndsTheProgram) {
  MakeDirectory("root");
  StartInstance({{Path("root").string(), "", true}});
  const ProcessResult result = RunServer({"serve", "default", "--allow-path", "relative"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.error, HasSubstr("relative"));
}

TEST_F(AllowPath, SettingsOfAgentsAreWrittenOnlyWithAllowSettings) {
  const std::string settings = Path("root/.claude/settings.json").string();
  MountWith({});
  EXPECT_THAT(WriteRefusal(settings), AllOf(HasSubstr(settings), HasSubstr("--allow-settings")));
  EXPECT_FALSE(fs::exists(settings));
  Serve({.arguments = {"default", "--allow-settings"}});
  Write(settings, "{}");
  EXPECT_EQ(ReadFile(settings), "{}");
}

class RootOption : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeFile("home/project/a.txt", "text");
    MakeFile("home/.ssh/id", "secret");
  }
  const std::string home = Path("home").string();
  const std::string project = Path("home/project").string();
};

TEST_F(RootOption, LeavesOnlyTheDirectoriesThatItNames) {
  MakeFile("other/a.txt", "secret");
  MakeFile("home/second/a.txt", "2");
  MakeFile("extra/a.txt", "extra");
  StartInstance({{home, "", true}, {Path("other").string(), "", true}});
  Serve({.arguments = {"default", "--root", "project", "--root=" + Path("home/second").string(),
                       "--allow-path", Path("extra")},
         .working_directory = home});
  EXPECT_EQ(Read(project + "/a.txt"), "text");
  EXPECT_EQ(Read(Path("home/second/a.txt")), "2");
  EXPECT_EQ(Read(Path("extra/a.txt")), "extra");
  Write(project + "/b.txt", "b");
  EXPECT_THAT(ReadRefusal(home + "/.ssh/id"), HasSubstr(project + " (writable)"));
  ReadRefusal(project + "/../.ssh/id");
  ReadRefusal(Path("other/a.txt"));
  Refusal("list_directory", {{"path", home}});
  WriteRefusal(home + "/project_other/new");
}

TEST_F(RootOption, KeepsReadOnlyMountsReadOnlyAlsoThroughLinks) {
  MakeFile("home/project/vendor/a.txt", "text");
  MakeFile("readonly/project/a.txt", "text");
  MakeLink("home/nested", "project/vendor");
  MakeLink("home/other", Path("readonly"));
  const std::string readonly = Path("readonly");
  Mount({{home, "", true}, {project + "/vendor", "", false}, {readonly, "", false}},
        {"--root", project, "--root", readonly + "/project", "--root", home + "/nested"});
  EXPECT_EQ(Read(project + "/vendor/a.txt"), "text");
  EXPECT_THAT(WriteRefusal(project + "/vendor/a.txt"), HasSubstr("read-only"));
  EXPECT_THAT(WriteRefusal(home + "/nested/a.txt"), HasSubstr("read-only"));
  EXPECT_THAT(WriteRefusal(readonly + "/project/b.txt"),
              HasSubstr("\"location\":\"" + readonly + "\""));
  Write(project + "/b.txt", "b");
  Serve({.arguments = {"default", "--root", home + "/other"}});
  WriteRefusal(home + "/other/project/a.txt");
  EXPECT_EQ(ReadFile(Path("readonly/project/a.txt")), "text");
}

TEST_F(RootOption, NarrowsAMappedMount) {
  MakeFile("guest/project/a.txt", "in the guest");
  MakeFile("guest/.ssh/id", "secret");
  const std::string host = Path("elsewhere/home");
  Mount({{host, Path("guest").string(), true}}, {"--root", host + "/project"});
  EXPECT_EQ(Read(host + "/project/a.txt"), "in the guest");
  EXPECT_EQ(Read(Path("guest/project/a.txt")), "in the guest");
  EXPECT_THAT(Glob({{"pattern", "*"}, {"path", Path("guest/project")}}),
              ElementsAre(host + "/project/a.txt"));
  ReadRefusal(host + "/.ssh/id");
  ReadRefusal(Path("guest/.ssh/id"));
}

TEST_F(RootOption, LinkOfTheHostIsResolvedOnce) {
  MakeLink("folder", project);
  const std::string folder = Path("folder");
  Mount({{home, "", true}}, {"--root", folder});
  EXPECT_EQ(Read(folder + "/a.txt"), "text");
  EXPECT_EQ(Read(project + "/a.txt"), "text");
  EXPECT_THAT(Glob({{"pattern", "a*"}, {"path", folder}}), ElementsAre(folder + "/a.txt"));
  fs::remove(folder);
  MakeLink("folder", Path("home/.ssh"));
  EXPECT_EQ(Read(folder + "/a.txt"), "text");
  ReadRefusal(folder + "/id");
  ReadRefusal(home + "/.ssh/id");
}

TEST_F(RootOption, DirectoryUnderNoMountEndsTheProgramWithAClearLine) {
  StartInstance({{project, "", true}});
  for (const std::string& directory :
       {home, Path("home/project_other").string(), project + "/../.ssh"}) {
    const ProcessResult result = RunServer({"serve", "default", "--root", directory});
    EXPECT_EQ(result.exit_code, 1) << directory;
    EXPECT_EQ(result.output, "");
    EXPECT_THAT(result.error, HasSubstr(project)) << "the message lists the mounts";
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
  }
}

TEST_F(RootOption, CountsAlsoIfLimaYamlIsFixedOnlyLater) {
  StartInstance({{home, "", true}});
  const std::string good = ReadFile(LimaHome() / "default/lima.yaml");
  MakeFile("lima/default/lima.yaml", "mounts: [\n");
  Serve({.arguments = {"default", "--root", project}});
  EXPECT_THAT(ReadRefusal(project + "/a.txt"), HasSubstr("lima.yaml"));
  MakeFile("lima/default/lima.yaml", good);
  EXPECT_EQ(Read(project + "/a.txt"), "text");
  ReadRefusal(home + "/.ssh/id");
}

TEST_F(RootOption, MissingDirectoryIsNamedAndWorksOnceItExists) {
  Mount({{home, "", true}}, {"--root", home + "/no/such"});
  EXPECT_THAT(ReadRefusal(home + "/no/such/a.txt"),
              AllOf(HasSubstr("--root " + home + "/no/such cannot be used"),
                    HasSubstr("no such file"), HasSubstr("create that directory")));
  MakeFile("home/no/such/a.txt", "text");
  EXPECT_EQ(Read(home + "/no/such/a.txt"), "text");
}

TEST_F(RootOption, DirectoryThatAnotherMountHidesInTheGuestGivesNoAccessToThatOne) {
  MakeDirectory("other");
  Mount({{home, "", true}, {Path("other").string(), project, true}}, {"--root", project});
  EXPECT_THAT(ReadRefusal(project + "/a.txt"),
              AllOf(HasSubstr("--root " + project + " cannot be used"),
                    HasSubstr("the mount of " + Path("other").string())));
  WriteRefusal(project + "/new.txt");
  EXPECT_FALSE(fs::exists(project + "/new.txt"));
}

TEST_F(RootOption, LinkOutOfTheMountGivesNoAccessOutside) {
  MakeFile("outside/a.txt", "secret");
  MakeLink("home/link", Path("outside"));
  StartInstance({{home, "", true}});
  Serve({.arguments = {"default", "--root", home + "/link"}});
  ReadRefusal(home + "/link/a.txt");
  WriteRefusal(home + "/link/new.txt");

  Serve({.arguments = {"default", "--root", project}});
  EXPECT_EQ(Read(project + "/a.txt"), "text");
  fs::rename(project, home + "/old");
  MakeLink("home/project", Path("outside"));
  ReadRefusal(project + "/a.txt");
  WriteRefusal(project + "/new.txt");
  EXPECT_FALSE(fs::exists(Path("outside/new.txt")));
}

}  // namespace
}  // namespace integration
