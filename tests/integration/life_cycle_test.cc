// How the program exits, and that only messages reach standard output.

#include <csignal>

#include "integration/fixture.h"

namespace integration {
namespace {

class LifeCycle : public IntegrationTest {
 protected:
  void SetUp() override {
    MakeFile("root/a.txt", "text");
    StartRoot();
  }
};

TEST_F(LifeCycle, ExitsSilentlyWhenInputIsEmptyOrClosed) {
  for (const char* redirection : {"</dev/null", "<&-"}) {
    ChildProcess::Options options = ServerOptions({"serve", "default"});
    options.arguments.insert(options.arguments.begin(),
                             {"sh", "-c", std::string("exec \"$0\" \"$@\" ") + redirection});
    const ProcessResult result = RunProcess(options);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_EQ(result.output, "");
  }
}

TEST_F(LifeCycle, ExitsBeforeItIsConnected) {
  Serve();
  EXPECT_EQ(client().CloseAndWait(kPromptly), 0);
  Serve({.initialize = false});
  client().Request("ping");
  client().process().Signal(SIGTERM);
  EXPECT_TRUE(client().process().Wait(kPromptly).has_value());
}

TEST_F(LifeCycle, OnlyMessagesReachStandardOutput) {
  Serve();
  for (const char* line : {"garbage", "", "[]"}) client().SendLine(line);
  EXPECT_EQ(client().Request("ping").at("result"), json::object());
  ReadRefusal("relative");
  EXPECT_EQ(Read(root + "/a.txt"), "text");
  EXPECT_EQ(client().CloseAndWait(), 0);
  for (const int code : {-32700, -32600}) {
    EXPECT_EQ(client().NextMessage().at("error").at("code"), code);
  }
  EXPECT_THROW(client().NextMessage(), std::runtime_error) << "unless it is JSON";
}

TEST_F(LifeCycle, ABannerOfTheGuestDoesNotReachStandardOutput) {
  LoopbackInstance::Options options;
  options.name = "noisy";
  options.mounts = {{root, "", true}};
  options.sshd_options = {"Banner " + MakeFile("banner", "WELCOME\n").string()};
  StartInstance(options);
  Serve({.arguments = {"noisy"}});
  EXPECT_EQ(Read(root + "/a.txt"), "text");
  EXPECT_EQ(client().CloseAndWait(kPromptly), 0);
}

}  // namespace
}  // namespace integration
