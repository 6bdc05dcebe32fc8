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
                ElementsAre(StartsWith("==> installing with apt-get: build-essential ")));
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

// Debian's smallest systems lack file(1), which CPack needs.
TEST_F(Dev, InstallsWhatPackingNeeds) {
  Run({"package"});
  EXPECT_THAT(ReadFile(Path("log")), HasSubstr(" file\n"));
}

}  // namespace
}  // namespace integration
