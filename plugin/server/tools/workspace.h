// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "guest/guest.h"
#include "paths/path_rules.h"
#include "support/context.h"

namespace mcp {
class ProgressReporter;
struct ToolCall;
}  // namespace mcp

namespace tools {

/// What a call works on: a connected guest, and what is valid as long as that connection is. Take
/// one per call.
struct Workspace {
  std::shared_ptr<guest::Guest> guest;
  std::shared_ptr<const paths::PathRules> paths;

  /// The guest user's login shell as Lima would run it ("/bin/bash"); empty: the guest's "$SHELL".
  std::string shell;

  /// Held as long as the connection is used.
  std::shared_ptr<const void> lock = nullptr;
};

struct Toolbox;

/// The connection to one instance.
class WorkspaceSource {
 public:
  virtual ~WorkspaceSource() = default;

  /// Returns the present connection, or a new one if there is none or it is lost. Reports to
  /// `progress` what it waits for. Throws support::Error with what to do (`limactl start NAME`)
  /// if the instance cannot be reached in time; the next call tries again. Thread-safe.
  virtual Workspace Acquire(const support::Context& context, mcp::ProgressReporter& progress) = 0;
};

/// Runs `work`. If it is stopped because its time has passed, throws support::Error(error).
void InTime(const std::string& error, const std::function<void()>& work);

/// How often WithWorkspace starts a call.
inline constexpr int kMaxAttempts = 3;

/// Runs `work` with a workspace, and again from the start on a new connection if the old one is
/// lost and nothing in the guest can have changed (support::ConnectionLost without may_have_run).
/// If the time ends in a later attempt, throws support::Error that names the loss.
void WithWorkspace(WorkspaceSource& source, const support::Context& context,
                   mcp::ProgressReporter& progress,
                   const std::function<void(const Workspace&)>& work);

/// A command that is about to run.
struct CommandCall {
  const Workspace& workspace;
  const support::Context& context;
  std::string directory;  ///< the argument, resolved by the guest
};

/// WithWorkspace for a command. What precedes `work` ends within ToolOptions::time_limit, which
/// begins once there is a connection: with `--start`, the VM boots first. `limits_work`: so does
/// `work`, and all attempts share the time.
void WithCommand(Toolbox& toolbox, const mcp::ToolCall& call, const support::Context& context,
                 bool limits_work, const std::function<void(const CommandCall&)>& work);

/// A call on one file or directory, the argument `path`.
struct FileCall {
  const Workspace& workspace;
  const support::Context& context;
  paths::ResolvedPath path = {};
  std::uint64_t needed_bytes = 0;  ///< of a write; for the error if the guest lacks room
};

/// WithWorkspace for such a call, within ToolOptions::time_limit. Throws support::Error in
/// place of guest::FileError, and when the time has passed: "`action` PATH …".
void WithFile(Toolbox& toolbox, const mcp::ToolCall& call, paths::Access access,
              const std::string& action, const std::function<void(FileCall&)>& work);

/// The optional argument `path`, else the default directory. Throws support::Error if there is
/// none.
std::string PathOf(const mcp::ToolCall& call, const Workspace& workspace);

using LimitedWork = std::function<void(const Workspace&, const support::Context&)>;

/// WithWorkspace for a search in the optional argument `path`, within ToolOptions::time_limit. When
/// that has passed, throws support::Error that says how to ask for less.
void WithSearch(Toolbox& toolbox, const mcp::ToolCall& call, const LimitedWork& work);

}  // namespace tools
