#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "suites/runner/suite.h"
#include "testing/child_process.h"
#include "testing/loopback_instance.h"
#include "testing/mcp_client.h"
#include "testing/temporary_directory.h"

namespace suites {

/// The directories, instances and servers of one test. The guest is this machine behind sshd.
class World {
 public:
  /// Thrown by a step "needs" that this machine does not fulfil.
  struct Skip {
    std::string reason;
  };

  /// `program` is the built limactl-mcp.
  explicit World(const std::filesystem::path& program);

  /// Carries out a step. Returns the lines that came, as they would stand in the suite. Throws
  /// std::runtime_error if it cannot be done, or fails and has no output.
  std::vector<std::string> Run(const Step& step);

  /// Stops the servers of tools, which must exit with 0. Throws std::runtime_error.
  void Stop();

 private:
  enum class Results { kText, kStructured };

  void StartInstance(const std::string& text);
  std::unique_ptr<testing_support::LoopbackInstance>& Instance(const std::string& name);
  void Serve(const std::string& words);
  /// `text` is "DIRECTORY: FILES".
  void MakeRepository(const std::string& text);
  void MakeAgents(const std::string& script);
  /// `text` is "REASON: COMMAND".
  void Need(const std::string& text) const;
  [[nodiscard]] testing_support::ChildProcess::Options Shell(const std::string& command,
                                                             const std::filesystem::path& directory,
                                                             bool in_guest) const;
  [[nodiscard]] std::vector<std::string> RunCommand(const std::string& command,
                                                    const std::filesystem::path& directory,
                                                    bool in_guest) const;
  [[nodiscard]] std::vector<std::string> RunInTerminal(
      const std::string& command, const std::vector<std::string>& expected) const;
  void WaitFor(const std::string& command) const;
  std::vector<std::string> CallTool(const std::string& call,
                                    const std::vector<std::string>& expected);
  testing_support::McpClient& Server(Results results);

  /// Values instead of the names of variables.
  [[nodiscard]] std::string Filled(std::string text) const;
  /// The lines of `text` with names instead of the values.
  [[nodiscard]] std::vector<std::string> Shown(std::string text) const;
  [[nodiscard]] std::string Place(std::string_view name) const;

  testing_support::TemporaryDirectory directory_;
  /// "$COPY" and its like with their values; a directory before those that it is in.
  std::vector<std::pair<std::string, std::string>> places_;
  /// By name. The first plays the guest.
  std::vector<std::pair<std::string, std::unique_ptr<testing_support::LoopbackInstance>>>
      instances_;
  std::string serve_;  ///< the words of the last "serve"
  std::map<Results, std::unique_ptr<testing_support::McpClient>> servers_;
};

}  // namespace suites
