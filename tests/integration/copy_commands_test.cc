#include <map>
#include <string>
#include <vector>

#include "integration/fixture.h"

namespace integration {
namespace {

/// Host and guest are this machine, so the copy is in another directory.
class CopyCommands : public IntegrationTest {
 protected:
  CopyCommands() {
    LoopbackInstance::Options options;
    options.name = "agent";
    StartInstance(std::move(options));
    MakeFile("project/committed.txt", "one\n");
    MakeFile("project/.gitignore", "ignored\n");
    Git({"init", "-q", "-b", "main"});
    Commit("first");
  }

  std::string GitIn(const std::string& directory, Command arguments) {
    arguments.insert(arguments.begin(), {"git", "-c", "user.name=Ann", "-c", "user.email=a@b", "-c",
                                         "maintenance.auto=false"});
    ChildProcess::Options options;
    options.arguments = std::move(arguments);
    options.working_directory = directory;
    options.environment = {{"HOME", Path().string()}};
    const ProcessResult result = RunProcess(options);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return result.output;
  }
  std::string Git(Command arguments) { return GitIn(project, std::move(arguments)); }
  std::string InCopy(Command arguments) { return GitIn(copy, std::move(arguments)); }
  void Commit(const std::string& message) {
    Git({"add", "-A"});
    Git({"commit", "-q", "-m", message});
  }

  /// `limactl mcp` in the project.
  ProcessResult Mcp(const Command& arguments) {
    ChildProcess::Options options = ServerOptions(arguments);
    options.working_directory = project;
    return RunProcess(options);
  }
  std::string Succeeds(const Command& arguments) {
    const ProcessResult result = Mcp(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return result.output;
  }
  /// Fails with one line.
  std::string Fails(const Command& arguments) {
    const ProcessResult result = Mcp(arguments);
    EXPECT_EQ(result.exit_code, 1) << result.output;
    EXPECT_EQ(LinesOf(result.error).size(), 1U) << result.error;
    return result.error;
  }
  void MakeCopy() { Succeeds({"copy", "--copy-dir", copy}); }

  const std::string project = Path("project").string();
  const std::string copy = Path("guest/copy").string();
};

// Neither side may be lost when this program is killed at any moment.
TEST_F(CopyCommands, AreRepeatedAfterAKill) {
  for (int file = 0; file < 300; ++file) {
    MakeFile("project/dir/" + std::to_string(file), std::to_string(file));
  }
  // Later and later, until nothing is left to kill.
  bool is_killed = true;
  for (int milliseconds = 20; milliseconds < 500 && is_killed; milliseconds += 40) {
    const auto kill_after = [&](const Command& arguments) {
      ChildProcess::Options options = ServerOptions(arguments);
      options.working_directory = project;
      ChildProcess child(options);
      return !child.Wait(std::chrono::milliseconds(milliseconds));
    };
    MakeFile("project/state", std::to_string(milliseconds));
    const bool is_copy_killed = kill_after({"copy", "--copy-dir", copy});
    MakeCopy();
    ASSERT_EQ(ReadFile(copy + "/state"), std::to_string(milliseconds));
    ASSERT_EQ(InCopy({"status", "--porcelain"}), "?? dir/\n?? state\n");
    MakeFile("guest/copy/work", std::to_string(milliseconds));
    const bool is_take_killed = kill_after({"take"});
    Succeeds({"take"});
    ASSERT_EQ(Git({"show", "agent/main:work"}), std::to_string(milliseconds));
    Git({"branch", "-D", "agent/main"});
    is_killed = is_copy_killed || is_take_killed;
  }
}

}  // namespace
}  // namespace integration
