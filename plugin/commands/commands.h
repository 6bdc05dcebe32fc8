// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lima/sandbox.h"

/// The command line: `limactl-mcp COMMAND …`, which `limactl mcp COMMAND …` runs.
namespace commands {

/// The instance of `serve` and `doctor` when none is named, as with limactl.
inline constexpr const char* kDefaultInstance = "default";
using lima::kAgentInstance;

/// Runs the program. `arguments` are those after the program's name. Returns the exit code: that
/// of the command, or 1 with one line on standard error; of Changes, 2. Never throws.
int Run(const std::vector<std::string>& arguments);

// The commands, as command_table.cc describes them. Each returns the exit code, and throws
// support::Error with the one line to print.
struct Parsed;
int Serve(const Parsed& parsed);
int RunAgent(const Parsed& parsed);  ///< returns the agent's exit code
int Configure(const Parsed& parsed);
int Copy(const Parsed& parsed);
int Diff(const Parsed& parsed);
int Take(const Parsed& parsed);
int Drop(const Parsed& parsed);
int Log(const Parsed& parsed);
int Undo(const Parsed& parsed);
int Allow(const Parsed& parsed);
int Port(const Parsed& parsed);
int Changes(const Parsed& parsed);  ///< returns 1 if something was changed
int Info(const Parsed& parsed);
int Doctor(const Parsed& parsed);  ///< returns 1 if a check failed
int GenerateDoc(const Parsed& parsed);

/// `limactl-mcp __complete PROGRAM WORD…`, which share/completions call at TAB: prints what the
/// last word may become, `WORD<tab>DESCRIPTION` in each line; ":directories" or ":files" stand for
/// those, which the shell completes itself. Returns 1 if it is another command of limactl.
int Complete(std::vector<std::string> words);

}  // namespace commands
