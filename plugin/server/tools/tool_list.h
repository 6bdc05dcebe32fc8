// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "mcp/tool.h"
#include "network/denials.h"
#include "tools/workspace.h"

namespace tools {

/// What the user of the program can set.
struct ToolOptions {
  std::string instance = {};  ///< for messages only

  /// How long a command may run; 0: no limit. One agent gives up after ten minutes.
  std::chrono::milliseconds command_timeout = std::chrono::minutes(9);

  /// For a file tool's call, a search, and a process's start: clients give up after 60 s at the
  /// earliest. Only tests change it.
  std::chrono::milliseconds time_limit = std::chrono::seconds(50);

  /// What a closed guest was denied; results have notes on it.
  std::shared_ptr<network::Denials> denials = std::make_shared<network::Denials>("");
};

/// What `tools/list` reports, in alphabetical order. Needs no instance.
std::vector<mcp::ToolDefinition> Definitions(const ToolOptions& options = {});

/// All tools, as Definitions() describes them. `workspaces` must outlive them.
std::vector<mcp::Tool> MakeTools(WorkspaceSource& workspaces, const ToolOptions& options);

}  // namespace tools
