// Path rules: further roots (--allow-path) and narrower ones (--root).

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

TEST_F(AllowPath, AddsAGuestDirectoryReadOnly) {
  MakeFile("extra/a.txt", "text");
  MountWith({"--allow-path", Path("extra")});
  EXPECT_EQ(Read(Path("extra/a.txt")), "text");
  EXPECT_THAT(WriteRefusal(Path("extra/b.txt")), HasSubstr("read-only"));
  EXPECT_FALSE(fs::exists(Path("extra/b.txt")));
}

TEST_F(AllowPath, RefusalToWriteDoesNotAdviseToMountTheHostsDirectoryOfThatName) {
  MakeDirectory("extra");
  Mount({}, {"--allow-path", Path("extra")});
  EXPECT_THAT(WriteRefusal(Path("extra/b.txt")),
              AllOf(HasSubstr("--allow-path " + Path("extra").string() + ":w"),
                    Not(HasSubstr("limactl edit"))));
}

TEST_F(AllowPath, AddsAGuestDirectoryWritable) {
  MakeDirectory("extra");
  MountWith({"--allow-path", Path("extra").string() + ":w"});
  Write(Path("extra/b.txt"), "b");
  EXPECT_EQ(ReadFile(Path("extra/b.txt")), "b");
  EXPECT_THAT(Glob({{"pattern", "*"}, {"path", Path("extra")}}), ElementsAre(Path("extra/b.txt")));
}

TEST_F(AllowPath, MayBeGivenSeveralTimes) {
  MakeFile("one/a.txt", "1");
  MakeFile("two/a.txt", "2");
  MountWith({"--allow-path", Path("one"), "--allow-path=" + Path("two").string() + ":w"});
  EXPECT_EQ(Read(Path("one/a.txt")), "1");
  Write(Path("two/b.txt"), "2");
  Write(Path("root/a.txt"), "0");
  const std::string text = ReadRefusal("/etc/passwd");
  EXPECT_THAT(text, AllOf(HasSubstr(Path("one").string() + " (read-only)"),
                          HasSubstr(Path("two").string() + " (writable)"),
                          HasSubstr(Path("root").string() + " (writable)")));
}

TEST_F(AllowPath, LinksOutOfItAreRefused) {
  MakeFile("outside/secret.txt", "secret");
  MakeLink("extra/link", Path("outside"));
  MountWith({"--allow-path", Path("extra")});
  ReadRefusal(Path("extra/link/secret.txt"));
}

TEST_F(AllowPath, RelativeDirectoryEndsTheProgram) {
  MakeDirectory("root");
  StartInstance({{Path("root").string(), "", true}});
  const ProcessResult result = RunServer({"serve", "default", "--allow-path", "relative"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.error, HasSubstr("relative"));
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

TEST_F(RootOption, NarrowsTheMountToTheDirectory) {
  Mount({{home, "", true}}, {"--root", project});
  EXPECT_EQ(Read(project + "/a.txt"), "text");
  Write(project + "/b.txt", "b");
  const std::string text = ReadRefusal(home + "/.ssh/id");
  EXPECT_THAT(text, HasSubstr(project + " (writable)"));
  ReadRefusal(project + "/../.ssh/id");
  Refusal("list_directory", {{"path", home}});
  WriteRefusal(home + "/project_other/new");
}

TEST_F(RootOption, KeepsReadOnlyMountsReadOnly) {
  Mount({{home, "", false}}, {"--root", project});
  EXPECT_EQ(Read(project + "/a.txt"), "text");
  EXPECT_THAT(WriteRefusal(project + "/b.txt"), HasSubstr("read-only"));
}

TEST_F(RootOption, KeepsANestedReadOnlyMountReadOnly) {
  MakeFile("home/project/vendor/a.txt", "text");
  Mount({{home, "", true}, {project + "/vendor", "", false}}, {"--root", project});
  EXPECT_EQ(Read(project + "/vendor/a.txt"), "text");
  EXPECT_THAT(WriteRefusal(project + "/vendor/a.txt"), HasSubstr("read-only"));
  Write(project + "/b.txt", "b");
}

TEST_F(RootOption, DropsMountsThatItDoesNotName) {
  MakeFile("other/a.txt", "secret");
  Mount({{home, "", true}, {Path("other").string(), "", true}}, {"--root", project});
  ReadRefusal(Path("other/a.txt"));
}

TEST_F(RootOption, MayBeGivenSeveralTimes) {
  MakeFile("home/second/a.txt", "2");
  Mount({{home, "", true}}, {"--root", project, "--root=" + Path("home/second").string()});
  EXPECT_EQ(Read(project + "/a.txt"), "text");
  EXPECT_EQ(Read(Path("home/second/a.txt")), "2");
  ReadRefusal(home + "/.ssh/id");
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

TEST_F(RootOption, WholeMountIsAllowed) {
  Mount({{home, "", true}}, {"--root", home + "/"});
  EXPECT_EQ(Read(project + "/a.txt"), "text");
}

// As an editor names the folder that it was given.
TEST_F(RootOption, LinkOfTheHostIntoAMountIsFollowedOnce) {
  MakeLink("folder", project);
  const std::string folder = Path("folder");
  Mount({{home, "", true}}, {"--root", folder});
  EXPECT_EQ(Read(folder + "/a.txt"), "text");
  EXPECT_EQ(Read(project + "/a.txt"), "text");
  Write(folder + "/b.txt", "b");
  EXPECT_EQ(ReadFile(Path("home/project/b.txt")), "b");
  EXPECT_THAT(Glob({{"pattern", "a*"}, {"path", folder}}), ElementsAre(folder + "/a.txt"));
  ReadRefusal(home + "/.ssh/id");

  fs::remove(folder);
  MakeLink("folder", Path("home/.ssh"));
  EXPECT_EQ(Read(folder + "/a.txt"), "text");
  ReadRefusal(folder + "/id");
}

TEST_F(RootOption, DirectoryUnderNoMountEndsTheProgramWithAClearLine) {
  StartInstance({{project, "", true}});
  for (const std::string& directory :
       {home, Path("home/project_other").string(), std::string("/etc"), project + "/../.ssh"}) {
    const ProcessResult result = RunServer({"serve", "default", "--root", directory});
    EXPECT_EQ(result.exit_code, 1) << directory;
    EXPECT_EQ(result.output, "");
    EXPECT_THAT(result.error, HasSubstr(project)) << "the line lists the mounts";
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
  }
}

TEST_F(RootOption, CountsAlsoWhereLimaYamlIsMendedOnlyLater) {
  StartInstance({{home, "", true}});
  const std::string good = ReadFile(LimaHome() / "default/lima.yaml");
  MakeFile("lima/default/lima.yaml", "mounts: [\n");
  Serve({.arguments = {"default", "--root", project}});
  EXPECT_THAT(ReadRefusal(project + "/a.txt"), HasSubstr("lima.yaml"));
  EXPECT_THAT(client().log(), HasSubstr("lima.yaml"));
  MakeFile("lima/default/lima.yaml", good);
  EXPECT_EQ(Read(project + "/a.txt"), "text");
  ReadRefusal(home + "/.ssh/id");
}

TEST_F(RootOption, RelativeDirectoryIsTakenFromTheWorkingDirectory) {
  StartInstance({{home, "", true}});
  Serve({.arguments = {"default", "--root", "project"}, .working_directory = home});
  EXPECT_EQ(Read(project + "/a.txt"), "text");
  ReadRefusal(home + "/.ssh/id");
}

TEST_F(RootOption, DirectoryThatIsNotThereIsNamedAndWorksOnceItIs) {
  Mount({{home, "", true}}, {"--root", home + "/no/such"});
  EXPECT_THAT(ReadRefusal(home + "/no/such/a.txt"),
              AllOf(HasSubstr("--root " + home + "/no/such cannot be used"),
                    HasSubstr("no such file"), HasSubstr("make that directory")));
  MakeFile("home/no/such/a.txt", "text");
  EXPECT_EQ(Read(home + "/no/such/a.txt"), "text");
}

TEST_F(RootOption, LinkBelowTheMountThatLeadsOutGivesNoAccessOutside) {
  MakeFile("outside/secret.txt", "secret");
  MakeLink("home/link", Path("outside"));
  Mount({{home, "", true}}, {"--root", home + "/link"});
  ReadRefusal(home + "/link/secret.txt");
  ReadRefusal(Path("outside/secret.txt"));
  Refusal("list_directory", {{"path", home + "/link"}});
  WriteRefusal(home + "/link/new.txt");
  EXPECT_FALSE(fs::exists(Path("outside/new.txt")));
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

TEST_F(RootOption, LinkIntoAnotherReadOnlyMountDoesNotMakeItWritable) {
  MakeFile("readonly/a.txt", "text");
  MakeLink("home/link", Path("readonly"));
  Mount({{home, "", true}, {Path("readonly").string(), "", false}}, {"--root", home + "/link"});
  WriteRefusal(home + "/link/a.txt");
  EXPECT_EQ(ReadFile(Path("readonly/a.txt")), "text");
}

TEST_F(RootOption, LinkIntoANestedReadOnlyMountDoesNotMakeItWritable) {
  MakeFile("home/vendor/a.txt", "text");
  MakeLink("home/link", "vendor");
  Mount({{home, "", true}, {home + "/vendor", "", false}}, {"--root", home + "/link"});
  WriteRefusal(home + "/link/a.txt");
  EXPECT_EQ(ReadFile(Path("home/vendor/a.txt")), "text");
}

TEST_F(RootOption, DirectoryThatBecomesALinkOutOfTheMountGivesNoAccessOutside) {
  MakeFile("outside/a.txt", "secret");
  Mount({{home, "", true}}, {"--root", project});
  EXPECT_EQ(Read(project + "/a.txt"), "text");
  fs::rename(project, home + "/old");
  MakeLink("home/project", Path("outside"));
  ReadRefusal(project + "/a.txt");
  WriteRefusal(project + "/new.txt");
  EXPECT_FALSE(fs::exists(Path("outside/new.txt")));
}

TEST_F(RootOption, ReadOnlyRefusalTellsTheWholeMountToTheUser) {
  Mount({{home, "", false}}, {"--root", project});
  const std::string text = WriteRefusal(project + "/b.txt");
  EXPECT_THAT(text, HasSubstr("\"location\":\"" + home + "\""))
      << "to name the narrowed directory would add a mount within a mount: " << text;
}

TEST_F(RootOption, GoesTogetherWithAllowPath) {
  MakeFile("extra/a.txt", "extra");
  Mount({{home, "", true}}, {"--root", project, "--allow-path", Path("extra")});
  EXPECT_EQ(Read(project + "/a.txt"), "text");
  EXPECT_EQ(Read(Path("extra/a.txt")), "extra");
  ReadRefusal(home + "/.ssh/id");
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

}  // namespace
}  // namespace integration
