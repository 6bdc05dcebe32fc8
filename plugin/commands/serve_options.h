// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "commands/option_parser.h"
#include "connection/instance.h"
#include "copy/side_repository.h"
#include "mcp/tool.h"
#include "tools/tool_list.h"

/// The options of `serve`, which `run` and `configure` take, too.
namespace commands {

struct ServeOptions {
  connection::InstanceOptions instance;
  bool start = false;  ///< whether to start a stopped instance
  tools::ToolOptions tools;
  std::optional<std::string> audit_file;
  std::optional<mcp::ResultStyle> result_style;  ///< nothing: by the client's name
};

/// Throws Error for an invalid --command-timeout.
std::chrono::milliseconds ReadCommandTimeout(const Parsed& parsed);

/// Reads the options for an instance, which need not be there. Throws support::Error for a value
/// that cannot be used.
ServeOptions ReadServeOptions(const Parsed& parsed, const std::string& instance);

/// Throws support::Error for a --root under no mount, and for an audit file that cannot be written,
/// or that the agent could change or replace by a link. Files of Lima's that cannot be used only
/// cause a warning: the user may fix them while we serve. Until then each call returns the error.
void CheckOnHost(const ServeOptions& options);

/// The same, and throws support::Error if there is no such instance.
void RequireInstance(const ServeOptions& options);

/// The absolute path of `--copy` with links resolved; empty if it is not given. Throws Error.
copy::Choice ReadCopiedProject(const Parsed& parsed);

/// The options of `run` or `serve` as words for `serve`, in the given order, with absolute paths.
std::vector<std::string> ServeArguments(const Parsed& parsed);

}  // namespace commands
