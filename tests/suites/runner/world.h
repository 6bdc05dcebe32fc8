// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "suites/runner/suite.h"
#include "testing/child_process.h"
#include "testing/loopback_instance.h"
#include "testing/mcp_client.h"
#include "testing/temporary_directory.h"

namespace suites {

/// The directories, instances and server of one test. The guest is this machine behind sshd.
class World {
 public:
  /// Thrown by a step "needs" that this machine does not fulfil.
  struct Skip {
    std::string reason;
  };

  World();

  /// Carries out a step. Returns the lines that came, as they would stand in the suite. Throws
  /// std::runtime_error if it cannot be done, or fails and has no output.
  Lines Run(const Step& step);

  /// Stops the server of tools, which must exit with 0. Returns the messages of it that no step
  /// read. Throws std::runtime_error.
  Lines Stop();

 private:
  using Command = testing_support::ChildProcess::Options;

  void StartInstance(const std::string& text);
  [[nodiscard]] Command Shell(const std::string& command, const std::string& directory = "$PROJECT",
                              bool in_guest = false) const;
  [[nodiscard]] Lines RunCommand(const Command& shell) const;
  /// Runs a program of tests/testing.
  [[nodiscard]] Lines RunProgram(const std::string& name, const Lines& words) const;
  testing_support::McpClient& Server();
  Lines CallTool(const std::string& call, const Lines& expected);
  Lines SendLine(const std::string& line, const Lines& expected);

  /// Values instead of the names of variables.
  [[nodiscard]] std::string Filled(std::string text) const;
  /// The lines of `text`, after `mark`, with names instead of the values.
  [[nodiscard]] Lines Shown(std::string text, const std::string& mark = "") const;

  testing_support::TemporaryDirectory directory_;
  /// "$COPY" and its like with their values; a directory before those that it is in.
  std::vector<std::pair<std::string, std::string>> places_;
  std::map<std::string, std::unique_ptr<testing_support::LoopbackInstance>> instances_;
  std::string serve_;  ///< the words of the last "serve", or the first instance
  std::unique_ptr<testing_support::McpClient> server_;
};

}  // namespace suites
