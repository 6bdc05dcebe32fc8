#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "integration/fixture.h"

namespace integration {

/// run_shell_command through the real binary: one writable root, and what runs in the guest can be
/// looked at.
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

  /// Sends the call without waiting for its answer. With a progress token where one is given.
  std::int64_t Begin(const std::vector<std::string>& command, const std::string& progress = "");
  std::int64_t BeginShell(const std::string& script, const std::string& progress = "") {
    return Begin({"sh", "-c", script}, progress);
  }
  /// The answer's result.
  nlohmann::json End(std::int64_t id);

  /// BeginShell in a process group of its own, whose number is $$, and for which it waits.
  std::int64_t BeginGroup(const std::string& script, const std::string& progress = "");

  /// The text of the next progress notification with this token.
  std::string NextProgress(const std::string& token);

  /// Waits until the file `name` in the root is there and not empty; returns what it holds.
  [[nodiscard]] std::string Await(const std::string& name) const;

  const std::string root = Path("root").string();
};

/// Whether any process of the group lives (one that only waits to be reaped does not).
bool GroupLives(long process_group);

/// Waits for the end of a process group; how long that took.
std::chrono::milliseconds TimeUntilGroupEnds(long process_group);

/// A line "NAME: value kB" or "NAME: value" of /proc/PID/status; 0 where there is no such file.
long StatusOf(pid_t pid, const std::string& name);

}  // namespace integration
