#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "doctor/host_checks.h"
#include "testing/temporary_directory.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class InstallationTest : public ::testing::Test {
 protected:
  InstallationTest() { ::signal(SIGPIPE, SIG_IGN); }

  fs::path Program(const std::string& name, const std::string& script = "",
                   fs::perms permissions = fs::perms::owner_all) {
    fs::path path = directory.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n" << script;
    fs::permissions(path, permissions);
    return path;
  }
  fs::path Link(const std::string& name, const fs::path& target) {
    fs::path path = directory.path() / name;
    fs::create_directories(path.parent_path());
    fs::create_symlink(target, path);
    return path;
  }
  [[nodiscard]] std::string Path(const std::string& name) const { return directory.path() / name; }

  Finding Limactl(const std::string& script) {
    return CheckLimactl(Program("limactl", script),
                        support::Context().WithTimeout(std::chrono::seconds(60)));
  }

  testing_support::TemporaryDirectory directory;
};

TEST_F(InstallationTest, PluginIsSearchedInTheOrderOfLimactl) {
  Program("cellar/bin/limactl");
  const fs::path link = Link("brew/bin/limactl", directory.path() / "cellar/bin/limactl");
  const std::string path = Path("one") + "::" + Path("two");
  for (const char* name : {"brew/bin", "cellar/bin", "one", "two", "brew/libexec/lima",
                           "brew/lib/lima", "cellar/libexec/lima"}) {
    Program(std::string(name) + "/limactl-mcp");
  }
  for (const char* name : {"brew/bin", "cellar/bin", "one", "two", "brew/libexec/lima",
                           "brew/lib/lima", "cellar/libexec/lima"}) {
    const fs::path plugin = directory.path() / name / "limactl-mcp";
    EXPECT_EQ(FindPlugin(link, path), plugin);
    fs::remove(plugin);
  }
  EXPECT_EQ(FindPlugin(link, path), std::nullopt);
}

TEST_F(InstallationTest, PluginIsAnExecutableFile) {
  const fs::path limactl = Program("bin/limactl");
  Program("a/limactl-mcp", "", fs::perms::owner_read);
  fs::create_directories(directory.path() / "b/limactl-mcp");
  Link("c/limactl-mcp", "/no/such/file");
  const fs::path plugin = Program("d/limactl-mcp");
  std::string path;
  for (const char* name : {"a", "b", "c", "d"}) path += Path(name) + ":";
  EXPECT_EQ(FindPlugin(limactl, path), plugin);
}

}  // namespace
}  // namespace doctor
