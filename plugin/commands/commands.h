// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lima/sandbox.h"
#include "support/errors.h"

/// The command line: `limactl-mcp COMMAND …`, which `limactl mcp COMMAND …` runs.
namespace commands {

/// The command line is wrong. `what()` is one line.
class UsageError : public support::CommandError {
 public:
  using CommandError::CommandError;
};

/// The instance of `serve` and `doctor` when none is named, as with limactl.
inline constexpr const char* kDefaultInstance = "default";

using lima::kAgentInstance;

/// Runs the program. `arguments` are those after the program's name. Returns the exit code: that
/// of the command, or 1 with one line on standard error; of Changes, 2. Never throws.
int Run(const std::vector<std::string>& arguments);

// The commands, as command_table.cc describes them. `arguments` are those after the command's name.
// Each returns the exit code, and throws support::Error with the one line to print.
int Serve(const std::vector<std::string>& arguments);
int RunAgent(const std::vector<std::string>& arguments);  ///< returns the agent's exit code
int Configure(const std::vector<std::string>& arguments);
int Copy(const std::vector<std::string>& arguments);
int Diff(const std::vector<std::string>& arguments);
int Take(const std::vector<std::string>& arguments);
int Drop(const std::vector<std::string>& arguments);
int Changes(const std::vector<std::string>& arguments);  ///< returns 1 if something was changed
int Info(const std::vector<std::string>& arguments);
int Doctor(const std::vector<std::string>& arguments);  ///< returns 1 if a check failed

/// `generate-doc DIR`, which the help does not list.
int GenerateDoc(const std::vector<std::string>& arguments);

}  // namespace commands
