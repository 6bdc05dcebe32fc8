// `limactl mcp doctor` with a guest that does not answer. tests/suites/doctor.txt has the rest.

#include "integration/fixture.h"

namespace integration {
namespace {

using Doctor = IntegrationTest;

TEST_F(Doctor, NamesAGuestThatDoesNotAnswer) {
  const LoopbackInstance& instance = StartRoot();
  MakeProgram("bin/limactl", "echo limactl version 2.2.0\n");
  MakeLink("bin/limactl-mcp", ServerProgram());
  ChildProcess::Options options = ServerOptions({"doctor", "--json"});
  options.environment["PATH"] = Path("bin").string() + ":/usr/local/bin:/usr/bin:/bin";
  testing_support::Freeze(instance);
  // Longer than a check takes, shorter than all deadlines together.
  const ProcessResult result = RunProcess(options, "", 110s);
  testing_support::Thaw(instance);
  EXPECT_EQ(result.exit_code, 1) << result.error;
  for (const json& check : json::parse(result.output).at("checks")) {
    EXPECT_EQ(check.at("result") == "failed", check.at("name") == "connect") << check;
    EXPECT_NE(check.value("advice", check.at("result") == "failed" ? "" : "none"), "") << check;
  }
}

}  // namespace
}  // namespace integration
