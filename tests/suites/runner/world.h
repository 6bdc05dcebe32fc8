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

  /// `program` is the built limactl-mcp. `variables` are of the test's "each".
  World(std::filesystem::path program, std::map<std::string, std::string> variables);

  /// Carries out a step. Returns the lines that came, as they would stand in the suite. Throws
  /// std::runtime_error if it cannot be done, or fails and has no output.
  std::vector<std::string> Run(const Step& step);

  /// Stops the servers, which must exit with 0. Throws std::runtime_error.
  void Stop();

 private:
  enum class Results { kText, kStructured };

  void StartInstance(const std::string& text);
  void MakeRepository(const std::string& name, const std::string& files);
  void MakeAgents(const std::string& script);
  void Need(const std::string& what) const;
  [[nodiscard]] testing_support::ChildProcess::Options Shell(const std::string& command,
                                                             const std::filesystem::path& directory,
                                                             bool in_guest) const;
  std::vector<std::string> RunCommand(const Step& step, const std::filesystem::path& directory,
                                      bool in_guest);
  std::vector<std::string> RunInTerminal(const Step& step) const;
  void WaitFor(const std::string& command) const;
  std::vector<std::string> CallTool(const Step& step);
  testing_support::McpClient& Server(Results results);

  /// Values instead of the names of variables.
  [[nodiscard]] std::string Filled(std::string text) const;
  /// The lines of `text` with names instead of the values.
  [[nodiscard]] std::vector<std::string> Shown(std::string text) const;
  [[nodiscard]] std::string Place(std::string_view name) const;

  testing_support::TemporaryDirectory directory_;
  std::filesystem::path program_;
  std::map<std::string, std::string> each_;
  /// "$COPY" and its like with their values; a directory before those that it is in.
  std::vector<std::pair<std::string, std::string>> places_;
  std::vector<std::unique_ptr<testing_support::LoopbackInstance>> instances_;
  std::string serve_;  ///< the words of the last "serve"
  std::map<Results, std::unique_ptr<testing_support::McpClient>> servers_;
};

}  // namespace suites
