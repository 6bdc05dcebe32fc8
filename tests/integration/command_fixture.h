#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "integration/fixture.h"

namespace integration {

/// run_shell_command through the real binary, with one writable root.
class CommandTest : public IntegrationTest {
 protected:
  void SetUp() override { MakeDirectory("root"); }

  /// A guest with one root and these lines in its sshd_config, and a server.
  testing_support::LoopbackInstance& StartGuest(const std::vector<std::string>& sshd_options = {},
                                                const std::vector<std::string>& serve_options = {},
                                                const std::string& lima_yaml = "");

  /// Arguments of run_shell_command, in the root.
  [[nodiscard]] nlohmann::json Arguments(const std::vector<std::string>& command) const;

  nlohmann::json Run(const std::vector<std::string>& command);
  nlohmann::json Shell(const std::string& script) { return Run({"sh", "-c", script}); }

  /// Sends the call without waiting for its response. "" for no progress token.
  std::int64_t Begin(const std::vector<std::string>& command, const std::string& progress = "");
  std::int64_t BeginShell(const std::string& script, const std::string& progress = "") {
    return Begin({"sh", "-c", script}, progress);
  }
  /// The result of its response.
  nlohmann::json End(std::int64_t id);

  /// BeginShell in a process group of its own, with the number $$. The command waits for it.
  std::int64_t BeginGroup(const std::string& script, const std::string& progress = "");

  /// The text of the next progress notification with this token.
  std::string NextProgress(const std::string& token);

  /// Waits until the file `name` in the root exists and is not empty; returns its content.
  [[nodiscard]] std::string Await(const std::string& name) const;

  const std::string root = Path("root").string();
};

/// Whether any process of the group runs. Zombies do not count.
bool GroupLives(long process_group);

/// Waits until a process group has exited; returns how long that took.
std::chrono::milliseconds TimeUntilGroupEnds(long process_group);

/// A line "NAME: value kB" or "NAME: value" of /proc/PID/status; 0 if there is no such file.
long StatusOf(pid_t pid, const std::string& name);

}  // namespace integration
