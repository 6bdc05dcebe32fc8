// Which instance is served, and what happens while it is stopped, broken or restarted.

#include <poll.h>

#include <algorithm>

#include "integration/fixture.h"
#include "testing/sockets.h"

namespace integration {
namespace {

class Instances : public IntegrationTest {
 protected:
  LoopbackInstance& StartNamed(const std::string& name, const Mounts& mounts) {
    LoopbackInstance::Options options;
    options.name = name;
    options.mounts = mounts;
    return StartInstance(options);
  }

  LoopbackInstance& StartDefault() {
    MakeFile("root/a.txt", "text");
    return StartRoot();
  }

  static std::string ExpectOneLine(const ProcessResult& result) {
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
    return result.error;
  }
};

TEST_F(Instances, TwoServersAreEachBoundToTheirOwnMounts) {
  MakeFile("one/a.txt", "of one");
  MakeFile("two/a.txt", "of two");
  const std::string one = Path("one");
  const std::string two = Path("two");
  StartNamed("my.dev_box-1", {{one, "", true}});
  StartNamed("second", {{two, "", false}});
  McpClient& first = Serve({.arguments = {"my.dev_box-1"}});
  McpClient& second = Serve({.arguments = {"second"}});

  const auto read = [](McpClient& server, const std::string& path) {
    return server.CallTool("read_file", {{"path", path}});
  };
  EXPECT_EQ(read(first, one + "/a.txt").at("structuredContent").at("content"), "of one");
  EXPECT_EQ(read(second, two + "/a.txt").at("structuredContent").at("content"), "of two");
  EXPECT_THAT(TextOf(read(first, two + "/a.txt")), HasSubstr(one + " (writable)"));
  EXPECT_THAT(TextOf(read(second, one + "/a.txt")), HasSubstr(two + " (read-only)"));
}

TEST_F(Instances, InstructionsListTheMountsAndThoseWithAStaleCache) {
  StartNamed("cached", {{Path("old").string(), "", false}, {Path("new").string(), "", true}});
  Serve({.arguments = {"cached"}, .initialize = false});
  const std::string text = client().Initialize().at("instructions").get<std::string>();
  EXPECT_THAT(text, HasSubstr(Path("old").string() + " (read-only): the guest may not notice"));
  EXPECT_THAT(text, HasSubstr(Path("new").string() + " (writable)\n"));
}

TEST_F(Instances, TheUsersSshAgentIsNotUsed) {
  StartDefault();
  const std::string path = Path("agent");
  const auto agent = testing_support::ListenOnUnix(path);
  ChildProcess::Options options = ServerOptions({"serve", "default"});
  options.environment["SSH_AUTH_SOCK"] = path;
  ServeWith(options).Initialize();
  EXPECT_EQ(Read(root + "/a.txt"), "text");
  pollfd polled = {agent.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&polled, 1, 0), 0) << "the program connected to it";
}

TEST_F(Instances, AnUnknownOneEndsTheProgramWithAList) {
  ExpectOneLine(RunServer({"serve"}));  // no Lima home
  MakeDirectory("lima");
  EXPECT_THAT(ExpectOneLine(RunServer({"serve"})), HasSubstr("default"));
  StartDefault();
  StartNamed("other", {});
  MakeFile("lima/half/ssh.config", "");  // no lima.yaml
  for (const char* name : {"unknown", "half"}) {
    EXPECT_THAT(ExpectOneLine(RunServer({"serve", name})),
                AllOf(HasSubstr(name), HasSubstr("default"), HasSubstr("other")));
  }
}

TEST_F(Instances, AnInvalidNameIsRefusedBeforeItBecomesAPath) {
  StartDefault();
  MakeFile("x/lima.yaml", "vmType: qemu\n");
  MakeFile("lima/_config/lima.yaml", "vmType: qemu\n");
  const std::string option = "-oProxyCommand=touch " + Path("pwned").string();
  for (const std::string& name :
       {std::string("../x"), std::string("a/b"), std::string(), std::string("."),
        std::string("_config"), std::string("a b"), std::string("default.yaml"),
        std::string("default\n"), std::string("/etc"), std::string("default/"),
        std::string(77, 'a'), option}) {
    EXPECT_NE(ExpectOneLine(RunServer({"serve", name})), "") << name;
    ExpectOneLine(RunServer({"serve", "--", name}));
  }
  EXPECT_FALSE(fs::exists(Path("pwned")));
}

TEST_F(Instances, AStoppedOneIsServedAndWorksOnceItHasStarted) {
  LoopbackInstance& instance = StartDefault();
  instance.Stop();
  Serve();
  EXPECT_EQ(client().Request("tools/list").at("result").at("tools").size(), 10U);
  EXPECT_THAT(ReadRefusal(root + "/a.txt"), HasSubstr("limactl start default"));
  EXPECT_THAT(Refusal("run_shell_command", {{"command", {"true"}}, {"directory", root}}),
              HasSubstr("limactl start default"));
  instance.Start();
  EXPECT_EQ(Read(root + "/a.txt"), "text");
}

TEST_F(Instances, ABrokenOneIsServedAndSaysWhatToDo) {
  const LoopbackInstance& instance = StartDefault();
  fs::remove(instance.directory() / "ha.pid");
  Serve();
  EXPECT_THAT(ReadRefusal(root + "/a.txt"), AllOf(HasSubstr("default"), HasSubstr("limactl")));
  EXPECT_TRUE(fs::exists(instance.directory() / "qemu.pid")) << "Lima's files stay";
}

TEST_F(Instances, AStopBetweenCallsIsReportedAndARestartOnAnotherPortIsFollowed) {
  LoopbackInstance& instance = StartDefault();
  Serve({.arguments = {}});
  EXPECT_EQ(Read(root + "/a.txt"), "text");
  instance.Stop();
  // The first call may still meet the dying connection.
  EXPECT_THAT(ReadRefusal(root + "/a.txt"),
              AnyOf(HasSubstr("limactl start default"), HasSubstr("connection")));
  EXPECT_THAT(ReadRefusal(root + "/a.txt"), HasSubstr("limactl start default"));
  instance.Start();
  EXPECT_EQ(Read(root + "/a.txt"), "text");
  Write(root + "/b.txt", "after the restart");
  EXPECT_EQ(ReadFile(Path("root/b.txt")), "after the restart");
}

TEST_F(Instances, MountsChangedWhileStoppedCountAfterTheStart) {
  MakeFile("other/a.txt", "of the other");
  LoopbackInstance& instance = StartDefault();
  Serve();
  EXPECT_EQ(Read(root + "/a.txt"), "text");
  instance.Stop();
  MakeFile("lima/default/lima.yaml",
           "vmType: qemu\nmounts:\n- location: \"" + Path("other").string() + "\"\n");
  instance.Start();
  // The old mounts allow this, so it reaches the guest and meets the end of the old connection.
  ReadRefusal(root + "/a.txt");
  EXPECT_EQ(Read(Path("other/a.txt")), "of the other");
}

TEST_F(Instances, MountsOfTheConfigDirectoryCount) {
  MakeFile("extra/a.txt", "text");
  MakeFile("lima/_config/override.yaml",
           "mounts:\n- location: \"" + Path("extra").string() + "\"\n  writable: true\n");
  StartDefault();
  Serve();
  EXPECT_EQ(Read(root + "/a.txt"), "text");
  Write(Path("extra/b.txt"), "b");
  EXPECT_EQ(ReadFile(Path("extra/b.txt")), "b");
}

}  // namespace
}  // namespace integration
