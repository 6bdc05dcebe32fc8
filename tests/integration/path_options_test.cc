// The options of serve that change the roots: --allow-path and --root.

#include <algorithm>

#include "integration/fixture.h"

namespace integration {
namespace {

class PathOptions : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeFile("home/project/a.txt", "text");
    MakeFile("home/.ssh/id", "secret");
  }
  const std::string home = Path("home").string();
  const std::string project = Path("home/project").string();
};

TEST_F(PathOptions, AllowPathAddsGuestDirectories) {
  MakeFile("one/a.txt", "1");
  MakeFile("two/a.txt", "2");
  MakeFile("outside/secret.txt", "secret");
  MakeLink("one/link", Path("outside"));
  Mount({{home, "", true}},
        {"--allow-path", Path("one"), "--allow-path=" + Path("two").string() + ":w"});
  EXPECT_EQ(Read(Path("one/a.txt")), "1");
  EXPECT_THAT(WriteRefusal(Path("one/b.txt")),
              AllOf(HasSubstr("--allow-path " + Path("one").string() + ":w"),
                    Not(HasSubstr("limactl edit"))));
  ReadRefusal(Path("one/link/secret.txt"));
  Write(Path("two/b.txt"), "2");
  EXPECT_THAT(Glob({{"pattern", "b*"}, {"path", Path("two")}}), ElementsAre(Path("two/b.txt")));
  EXPECT_THAT(ReadRefusal("/etc/passwd"), AllOf(HasSubstr(Path("one").string() + " (read-only)"),
                                                HasSubstr(Path("two").string() + " (writable)"),
                                                HasSubstr(home + " (writable)")));
}

TEST_F(PathOptions, RootLeavesOnlyTheDirectoriesThatItNames) {
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

TEST_F(PathOptions, RootLinkOfTheHostIsResolvedOnce) {
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

TEST_F(PathOptions, RootDirectoryUnderNoMountEndsTheProgramWithAClearLine) {
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

TEST_F(PathOptions, RootCountsAlsoIfLimaYamlIsFixedOnlyLater) {
  StartInstance({{home, "", true}});
  const std::string good = ReadFile(LimaHome() / "default/lima.yaml");
  MakeFile("lima/default/lima.yaml", "mounts: [\n");
  Serve({.arguments = {"default", "--root", project}});
  EXPECT_THAT(ReadRefusal(project + "/a.txt"), HasSubstr(LimaHome() / "default/lima.yaml"));
  MakeFile("lima/default/lima.yaml", good);
  EXPECT_EQ(Read(project + "/a.txt"), "text");
  ReadRefusal(home + "/.ssh/id");
}

TEST_F(PathOptions, RootMissingDirectoryIsNamedAndWorksOnceItExists) {
  Mount({{home, "", true}}, {"--root", home + "/no/such"});
  EXPECT_THAT(ReadRefusal(home + "/no/such/a.txt"),
              AllOf(HasSubstr("--root " + home + "/no/such cannot be used"),
                    HasSubstr("no such file"), HasSubstr("create that directory")));
  MakeFile("home/no/such/a.txt", "text");
  EXPECT_EQ(Read(home + "/no/such/a.txt"), "text");
}

}  // namespace
}  // namespace integration
