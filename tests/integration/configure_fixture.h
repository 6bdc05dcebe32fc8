#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "integration/fixture.h"

/// `limactl mcp configure`, in a project and a home of the test's own.
namespace integration {

namespace fs = std::filesystem;
using testing_support::ChildProcess;
using testing_support::ProcessResult;
using testing_support::RunProcess;
using Words = std::vector<std::string>;

/// Without Codex, whose settings are only printed.
inline const Words kAgents = {"claude", "copilot", "cursor", "gemini", "opencode", "vscode", "zed"};

class Configure : public IntegrationTest {
 protected:
  Configure() {
    MakeDirectory("home");
    MakeDirectory("project");
    MakeDirectory("bin");
  }

  ProcessResult Run(const Words& arguments) {
    Words words = {ServerProgram(), "configure"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    ChildProcess::Options options{.arguments = words, .environment = environment_};
    options.environment.try_emplace("HOME", Path("home").string());
    options.environment.try_emplace("PATH", Path("bin").string() + ":/usr/bin:/bin");
    for (const char* name : {"LIMA_HOME", "XDG_CONFIG_HOME", "CODEX_HOME", "COPILOT_HOME",
                             "CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME"}) {
      options.environment.try_emplace(name, std::nullopt);
    }
    options.working_directory = working_directory_.empty() ? Path("project") : working_directory_;
    return RunProcess(options);
  }
  std::string Succeeds(const Words& arguments) {
    const ProcessResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_EQ(result.error, "");
    return result.output;
  }
  std::string FailsWithOneLine(const Words& arguments) {
    const ProcessResult result = Run(arguments);
    EXPECT_EQ(result.exit_code, 1) << result.output;
    EXPECT_EQ(std::count(result.error.begin(), result.error.end(), '\n'), 1) << result.error;
    return result.error;
  }

  /// Every file below a directory, with its text.
  std::map<std::string, std::string> Files(const std::string& directory) {
    std::map<std::string, std::string> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(Path(directory))) {
      if (entry.is_regular_file()) {
        files[fs::relative(entry.path(), Path(directory))] = ReadFile(entry.path());
      }
    }
    return files;
  }

  std::map<std::string, std::optional<std::string>> environment_;
  fs::path working_directory_;
};

}  // namespace integration
