// Signals to `limactl mcp run`. Suites cannot be skipped under ThreadSanitizer.

#include <sys/wait.h>

#include <csignal>
#include <map>
#include <string>

#include "integration/fixture.h"
#include "testing/sanitizers.h"

namespace integration {
namespace {

class RunSignals : public IntegrationTest {};

TEST_F(RunSignals, ReachTheAgent) {
  if (testing_support::kThreadSanitizer) {
    GTEST_SKIP() << Skipping("ThreadSanitizer delays signals until waitpid(2) returns");
  }
  LoopbackInstance::Options instance;
  instance.name = "agent";
  instance.mounts = {{MakeDirectory("project").string(), "", true}};
  StartInstance(std::move(instance));
  ChildProcess::Options options = ServerOptions({"run", "claude"});
  options.environment["HOME"] = MakeDirectory("home").string();
  options.environment["PATH"] = Path("bin").string() + ":/usr/bin:/bin";
  options.environment["XDG_STATE_HOME"] = std::nullopt;
  options.working_directory = Path("project");
  const std::map<std::string, int> signals = {
      {"INT", SIGINT}, {"TERM", SIGTERM}, {"HUP", SIGHUP}, {"QUIT", SIGQUIT}};
  for (const auto& [name, number] : signals) {
    MakeProgram("bin/claude",
                "[ \"$1\" != --version ] || { echo 99.0.0; exit 0; }\ntrap 'exit 9' " + name +
                    "; echo x > " + root + "/" + name + "; while :; do sleep 0.05; done");
    ChildProcess child(options);
    Await(name);
    child.Signal(number);
    const auto status = child.Wait(20s);
    ASSERT_TRUE(status) << name;
    EXPECT_TRUE(WIFEXITED(*status) && WEXITSTATUS(*status) == 9) << name << " " << *status;
  }
}

}  // namespace
}  // namespace integration
