// Which instance is served, and what happens while it is stopped, broken or restarted.

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>

#include "integration/fixture.h"

namespace integration {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using testing_support::FileDescriptor;
using testing_support::LoopbackInstance;
using testing_support::McpClient;
using testing_support::ProcessResult;
using testing_support::TextOf;

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
    return StartInstance({{root, "", true}});
  }

  static std::string ExpectOneLine(const ProcessResult& result) {
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.output, "");
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
    return result.error;
  }

  const std::string root = Path("root").string();
};

TEST_F(Instances, TwoServersAreEachBoundToTheirOwnMounts) {
  MakeFile("one/a.txt", "of one");
  MakeFile("two/a.txt", "of two");
  const std::string one = Path("one");
  const std::string two = Path("two");
  StartNamed("first", {{one, "", true}});
  StartNamed("second", {{two, "", false}});
  McpClient& first = Serve({.arguments = {"first"}});
  McpClient& second = Serve({.arguments = {"second"}});

  const auto read = [](McpClient& server, const std::string& path) {
    return server.CallTool("read_file", {{"path", path}});
  };
  EXPECT_EQ(read(first, one + "/a.txt").at("structuredContent").at("content"), "of one");
  EXPECT_EQ(read(second, two + "/a.txt").at("structuredContent").at("content"), "of two");
  EXPECT_THAT(TextOf(read(first, two + "/a.txt")), HasSubstr(one + " (writable)"));
  EXPECT_THAT(TextOf(read(second, one + "/a.txt")), HasSubstr(two + " (read-only)"));
}

TEST_F(Instances, NameWithDotsAndUnderscoresIsServed) {
  MakeFile("root/a.txt", "text");
  StartNamed("my.dev_box-2", {{root, "", true}});
  Serve({.arguments = {"my.dev_box-2"}});
  EXPECT_EQ(Read(root + "/a.txt"), "text");
}

TEST_F(Instances, TheUsersSshAgentIsNotUsed) {
  StartDefault();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = Path("agent");
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  const FileDescriptor agent(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::bind(agent.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(agent.get(), 1), 0);

  testing_support::ChildProcess::Options options = ServerOptions({"serve", "default"});
  options.environment["SSH_AUTH_SOCK"] = path;
  McpClient server(options);
  server.Initialize();
  const nlohmann::json read = server.CallTool("read_file", {{"path", root + "/a.txt"}});
  EXPECT_EQ(read.at("structuredContent").at("content"), "text");
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
