#pragma once

#include <string>
#include <vector>

#include "support/errors.h"

/// The command line: `limactl-mcp COMMAND …`, which `limactl mcp COMMAND …` becomes.
namespace commands {

class OptionParser;

/// The command line is wrong; `what()` is one line that says so.
class UsageError : public support::CallError {
 public:
  using CallError::CallError;
};

/// The instance that counts where none is named, as with limactl.
inline constexpr const char* kDefaultInstance = "default";

/// Runs the program. `arguments` are those after the program's name. Returns the exit code: 0, or 1
/// with one line on standard error, or without it when Doctor has found something. Throws nothing.
int Run(const std::vector<std::string>& arguments);

// The commands, each with what reads its arguments. `arguments` are those after the command's name;
// each returns the exit code, and throws support::CallError with the one line to print.

/// `serve [INSTANCE]`: serves MCP on standard input and output until the input ends.
OptionParser ServeParser();
int Serve(const std::vector<std::string>& arguments);

/// `run AGENT [INSTANCE] [-- AGENT-ARGS]`: becomes the agent, confined to the instance. Returns
/// only after --help.
OptionParser RunParser();
int RunAgent(const std::vector<std::string>& arguments);

/// `configure [AGENT] [INSTANCE]`: writes an agent's settings so that it starts `serve`.
OptionParser ConfigureParser();
int Configure(const std::vector<std::string>& arguments);

/// `info`: prints `{"tools": […]}`, needs no instance.
OptionParser InfoParser();
int Info(const std::vector<std::string>& arguments);

/// `doctor [INSTANCE]`: checks all that lies between an agent and the instance. Prints one line a
/// check, or with `--json` one object (doctor::ReportJson). 1 if a check failed.
OptionParser DoctorParser();
int Doctor(const std::vector<std::string>& arguments);

/// `generate-doc [DIR] [--man DIR] [--completions DIR]`: writes DIR/mcp.md, the page of the manual
/// and the shells' completions.
OptionParser GenerateDocParser();
int GenerateDoc(const std::vector<std::string>& arguments);

}  // namespace commands
