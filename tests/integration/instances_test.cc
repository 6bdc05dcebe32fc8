// tests/suites/instances.txt has the rest; this one listens in the place of the user's SSH agent.

#include <poll.h>

#include "integration/fixture.h"
#include "testing/sockets.h"

namespace integration {
namespace {

using Instances = IntegrationTest;

TEST_F(Instances, TheUsersSshAgentIsNotUsed) {
  MakeFile("root/a.txt", "text");
  StartRoot();
  const std::string path = Path("agent");
  const auto agent = testing_support::ListenOnUnix(path);
  ChildProcess::Options options = ServerOptions({"serve", "default"});
  options.environment["SSH_AUTH_SOCK"] = path;
  ServeWith(options).Initialize();
  EXPECT_EQ(Read(root + "/a.txt"), "text");
  pollfd polled = {agent.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&polled, 1, 0), 0) << "the program connected to it";
}

}  // namespace
}  // namespace integration
