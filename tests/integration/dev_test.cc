// What ./dev does to a machine where nothing is installed. Fake programs replace those that would
// change this machine; the build then fails at cmake.

#include "integration/fixture.h"

namespace integration {
namespace {

using Lines = std::vector<std::string>;

class Dev : public IntegrationTest {
 protected:
  void SetUp() override {
#ifdef __APPLE__
    GTEST_SKIP() << Skipping("there is no apt-get on macOS");
#endif
    programs_ =
        ProgramsWithout({"apt-get", "cmake", "dpkg-query", "id", "sudo", "systemctl"}).string();
    fs::copy_file(LIMACTL_MCP_SOURCE_DIRECTORY "/dev", Path("dev"));
    MakeProgram("bin/dpkg-query", "exit 1\n");
    MakeProgram("bin/id", "echo 0\n");
    MakeProgram("bin/cmake", "exit 1\n");
    for (const char* name : {"apt-get", "systemctl"}) {
      MakeProgram(std::string("bin/") + name,
                  std::string("echo ") + name + " \"$@\" >>'" + Path("log").string() + "'\n");
    }
  }

  ProcessResult Run(const Lines& arguments) {
    ChildProcess::Options options;
    options.arguments = {Path("dev").string()};
    options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
    options.environment["PATH"] = Path("bin").string() + ":" + programs_;
    return RunProcess(options);
  }
  [[nodiscard]] Lines Log() const {
    return LinesOf(ReadFile(Path("log")));
  }

 private:
  std::string programs_;
};

// systemctl ignores masked units: disabled before the unmask, the service would return at boot.
TEST_F(Dev, LeavesNoSshServiceBehind) {
  Run({"build"});
  EXPECT_THAT(Log(), ElementsAre("apt-get update -qq", "systemctl mask ssh.service ssh.socket",
                                 AllOf(StartsWith("apt-get install"), HasSubstr(" openssh-server")),
                                 "systemctl unmask ssh.service ssh.socket",
                                 "systemctl disable ssh.service ssh.socket"));
}

TEST_F(Dev, LeavesNoMaskBehindIfNothingCanBeInstalled) {
  MakeProgram("bin/apt-get", "[ \"$1\" = update ] || exit 100\n");
  EXPECT_EQ(Run({"build"}).exit_code, 100);
  EXPECT_THAT(Log(), ElementsAre("systemctl mask ssh.service ssh.socket",
                                 "systemctl unmask ssh.service ssh.socket",
                                 "systemctl disable ssh.service ssh.socket"));
}

TEST_F(Dev, NamesThePackagesIfItCannotBecomeRoot) {
  MakeProgram("bin/id", "echo 1000\n");
  for (const bool has_sudo : {false, true}) {
    if (has_sudo) MakeProgram("bin/sudo", "echo 'sudo: a password is required' >&2; exit 1\n");
    const ProcessResult result = Run({"build"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(LinesOf(result.output),
                ElementsAre(AllOf(StartsWith("==> installing with apt-get: "),
                                  HasSubstr(" packages (build-essential, cmake, "))));
    EXPECT_THAT(LinesOf(result.error),
                ElementsAre(AllOf(StartsWith("./dev: must be root"),
                                  HasSubstr("apt-get install build-essential "))));
  }
}

TEST_F(Dev, UsesSudoThatNeedsNoPassword) {
  MakeProgram("bin/id", "echo 1000\n");
  MakeProgram("bin/sudo", "[ \"$1\" != -n ] || shift\n\"$@\"\n");
  Run({"build"});
  EXPECT_THAT(Log(), Contains("apt-get update -qq"));
}

TEST_F(Dev, ShowsWhatAptGetPrintsOnlyIfItFails) {
  MakeProgram("bin/apt-get", "echo apt speaks; echo apt complains >&2\n");
  const ProcessResult fine = Run({"build"});
  EXPECT_THAT(fine.output + fine.error, Not(HasSubstr("apt ")));
  MakeProgram("bin/apt-get", "echo apt complains >&2; exit 100\n");
  EXPECT_THAT(Run({"build"}).error, HasSubstr("apt complains"));
}

TEST_F(Dev, FailsIfThereIsNothingToCheck) {
  MakeProgram("bin/cmake");
  MakeProgram("bin/clang-tidy");
  const ProcessResult result = Run({"tidy"});
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_THAT(result.error, HasSubstr("./dev: nothing to check"));
}

// The steps of ninja and of ctest become a line for each tenth part; what went wrong stays.
TEST_F(Dev, ShowsTheTenthPartsOfABuildAndItsErrors) {
  MakeProgram("bin/cmake",
              "[ \"$1\" = --build ] || exit 0\n"
              "for n in $(seq 40); do echo \"[$n/40] Building $n.cc\"; done\n"
              "echo 'FAILED: 41.cc'; echo '41.cc:1: error'; exit 1\n");
  const ProcessResult result = Run({"build"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(LinesOf(result.output),
              ElementsAre(StartsWith("==> installing"), "==> building (release)", "    10 %",
                          "    20 %", "    30 %", "    40 %", "    50 %", "    60 %", "    70 %",
                          "    80 %", "    90 %", "    100 %", "FAILED: 41.cc", "41.cc:1: error"));
}

TEST_F(Dev, CountsTestsAndSaysWhyTheyWereSkipped) {
  const std::string log = MakeFile("log.txt",
                                   "1/9 Testing: a_test.First.One\nfile:1: Skipped\nno fish\n"
                                   "3/9 Testing: a_test.Second.Two\nSKIPPED Second.Two: no fish\n"
                                   "4/9 Testing: npm\nSKIPPED tests/npm: no npm\n"
                                   "5/9 Testing: agents\nSKIPPED tests/agents: no codex\n");
  const std::string output =
      MakeFile("output.txt",
               " 1/9 Test  #1: a_test.First.One .....***Skipped   0.01 sec\n"
               " 2/9 Test #12: a_test.First.Fails ...***Failed    0.01 sec\n"
               " 3/9 Test  #3: a_test.Second.Two ....***Skipped   0.01 sec\n"
               " 4/9 Test  #4: npm ..................***Skipped   0.01 sec\n"
               " 5/9 Test  #5: agents ...............   Passed    0.01 sec\n"
               " 6/9 Test  #6: a_test.Third.Slow ....***Timeout 120.01 sec\n");
  const ProcessResult result =
      RunProcess({.arguments = {LIMACTL_MCP_SOURCE_DIRECTORY "/tests/verdict", output, log}});
  EXPECT_THAT(LinesOf(result.output),
              ElementsAre("skipped 2: no fish (First, Second)", "skipped 1: no npm (npm)",
                          "skipped in part: no codex (agents)", "1 passed, 2 failed, 3 skipped"));
}

// Debian's smallest systems lack file(1), which CPack needs.
TEST_F(Dev, InstallsWhatPackingNeeds) {
  Run({"package"});
  EXPECT_THAT(ReadFile(Path("log")), HasSubstr(" file\n"));
}

}  // namespace
}  // namespace integration
