#pragma once

#include <string>
#include <vector>

#include "support/errors.h"

/// The command line: `limactl-mcp COMMAND …`, which `limactl mcp COMMAND …` runs.
namespace commands {

/// The command line is wrong. `what()` is one line.
class UsageError : public support::CallError {
 public:
  using CallError::CallError;
};

/// The instance of `serve` and `doctor` when none is named, as with limactl.
inline constexpr const char* kDefaultInstance = "default";

/// That of the other commands.
inline constexpr const char* kAgentInstance = "agent";

/// Runs the program. `arguments` are those after the program's name. Returns the exit code: 0, or 1
/// with one line on standard error, or 1 when a check of Doctor failed. Never throws.
int Run(const std::vector<std::string>& arguments);

// The commands. `arguments` are those after the command's name. Each returns the exit code, and
// throws support::CallError with the one line to print.

/// `serve [INSTANCE]`: serves MCP on standard input and output until the input ends.
int Serve(const std::vector<std::string>& arguments);

/// `run AGENT [INSTANCE] [-- AGENT-ARGS]`: runs the agent, confined to the instance. Returns its
/// exit code.
int RunAgent(const std::vector<std::string>& arguments);

/// `configure [AGENT] [INSTANCE]`: writes an agent's settings so that it starts `serve`.
int Configure(const std::vector<std::string>& arguments);

/// `copy [INSTANCE]`: copies the project into the instance, or refreshes the copy.
int Copy(const std::vector<std::string>& arguments);

/// `diff [INSTANCE]`: prints what was changed in the copy.
int Diff(const std::vector<std::string>& arguments);

/// `take [INSTANCE]`: brings that back as a branch, or onto the working tree.
int Take(const std::vector<std::string>& arguments);

/// `drop [INSTANCE]`: deletes the copy.
int Drop(const std::vector<std::string>& arguments);

/// `info`: prints `{"tools": […]}`, as `tools/list` returns them. Needs no instance.
int Info(const std::vector<std::string>& arguments);

/// `doctor [INSTANCE]`: prints one line for each check, or one object with `--json`. Returns 1 if a
/// check failed.
int Doctor(const std::vector<std::string>& arguments);

/// `generate-doc DIR`: writes DIR/mcp.md.
int GenerateDoc(const std::vector<std::string>& arguments);

}  // namespace commands
