#include "commands/launch_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "testing/temporary_directory.h"

namespace commands {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class LaunchCommandTest : public ::testing::Test {
 protected:
  LaunchCommandTest() : own(Program("plugins/limactl-mcp")), limactl(Program("lima/bin/limactl")) {}

  fs::path Program(const std::string& name) {
    fs::path path = directory.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n";
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  [[nodiscard]] std::string Path(const std::string& name) const { return directory.path() / name; }

  testing_support::TemporaryDirectory directory;
  const fs::path own;
  const fs::path limactl;
};

TEST_F(LaunchCommandTest, NamesLimactlOnTheUsersPath) {
  const std::string path = Path("lima/bin") + ":" + Path("plugins");
  EXPECT_THAT(LaunchCommand(own, path, "/bin/sh"), ElementsAre("limactl", "mcp", "serve"));
  EXPECT_THAT(LaunchCommand(own, path, ""), ElementsAre("limactl", "mcp", "serve"));
  // As limactl makes it for its plugin.
  EXPECT_THAT(LaunchCommand(own, Path("lima/bin") + ":" + path, limactl),
              ElementsAre("limactl", "mcp", "serve"));
}

TEST_F(LaunchCommandTest, GivesThePathOfALimactlThatIsOnlyInItsOwnDirectory) {
  EXPECT_THAT(LaunchCommand(own, Path("lima/bin") + ":" + Path("plugins"), limactl),
              ElementsAre(limactl.string(), "mcp", "serve"));
  EXPECT_THAT(LaunchCommand(own, Path("lima/bin") + ":" + Path("plugins") + ":" + Path("lima/bin"),
                            limactl),
              ElementsAre("limactl", "mcp", "serve"));
}

TEST_F(LaunchCommandTest, RemovesBothDirectoriesOfALimactlThatIsALink) {
  const fs::path link = directory.path() / "brew/bin/limactl";
  fs::create_directories(link.parent_path());
  fs::create_symlink(limactl, link);
  const std::string own_directories = Path("brew/bin") + ":" + Path("lima/bin") + ":";
  EXPECT_THAT(LaunchCommand(own, own_directories + Path("plugins"), limactl),
              ElementsAre(link.string(), "mcp", "serve"));
  EXPECT_THAT(
      LaunchCommand(own, own_directories + Path("brew/bin") + ":" + Path("plugins"), limactl),
      ElementsAre("limactl", "mcp", "serve"));
}

TEST_F(LaunchCommandTest, DoesNotNameAnotherLimactl) {
  Program("old/limactl");
  EXPECT_THAT(
      LaunchCommand(own, Path("lima/bin") + ":" + Path("old") + ":" + Path("plugins"), limactl),
      ElementsAre(limactl.string(), "mcp", "serve"));
}

TEST_F(LaunchCommandTest, GivesThisProgramIfLimactlRunsAnotherPlugin) {
  Program("lima/bin/limactl-mcp");
  EXPECT_THAT(LaunchCommand(own, Path("lima/bin") + ":" + Path("plugins"), limactl),
              ElementsAre(own.string(), "serve"));
}

}  // namespace
}  // namespace commands
