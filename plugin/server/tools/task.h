// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "mcp/tool.h"
#include "paths/path_rules.h"
#include "support/context.h"
#include "support/errors.h"
#include "tools/workspace.h"

namespace tools {

struct Toolbox;

/// How often Perform starts a call.
inline constexpr int kMaxAttempts = 3;

/// The file or directory of a call, the argument `path`.
struct FileTarget {
  std::string action;  ///< "read": for errors
  paths::ResolvedPath path = {};
  std::uint64_t needed_bytes = 0;  ///< of a write; for the error if the guest lacks room
};

/// A call while it is carried out, in up to kMaxAttempts attempts. For one thread.
class Task {
 public:
  Task(Toolbox& shared, const mcp::ToolCall& given)
      : toolbox(shared), call(given), context(given.context) {}

  Toolbox& toolbox;
  const mcp::ToolCall& call;
  support::Context context;  ///< the call's, with its limit

  /// The connection of this attempt, which begins here. Throws as WorkspaceSource::Acquire.
  const Workspace& workspace();
  guest::Guest& guest() { return *workspace().guest; }

  /// Resolves `path`, within ToolOptions::time_limit, which holds for what follows, too.
  FileTarget& ResolveFile(paths::Access access, const std::string& action);

  /// Limits a search in the optional argument `path` to ToolOptions::time_limit.
  void LimitSearch();

  /// The optional argument `path`, else the default directory. Throws support::Error if there is
  /// none.
  std::string PathOrDefault();

  /// The argument `directory` of a command, resolved by the guest. Throws support::Error after
  /// ToolOptions::time_limit, which begins once there is a connection: with `--start`, the VM boots
  /// first. Attempts that fail share it.
  std::string ResolveDirectory();

  /// Limits what follows to ToolOptions::time_limit from the first time on that this is called, for
  /// all attempts together. `when_late` is the error.
  void LimitTime(std::string when_late);

 private:
  friend mcp::ToolResult Perform(Toolbox& toolbox, const mcp::ToolCall& call,
                                 const std::function<mcp::ToolResult(Task&)>& tool);

  void TryAgain(const support::ConnectionLost& lost);
  [[noreturn]] void Explain(const support::Stopped& stopped) const;
  [[noreturn]] void Explain(const guest::FileError& error) const;

  std::optional<Workspace> workspace_;
  std::optional<FileTarget> file_;
  std::optional<support::Context> resolving_;  ///< of all attempts, until one has the directory
  std::string when_late_;
  std::string earlier_loss_;
  int attempt_ = 1;
};

/// Runs `tool`; again from the start on a new connection if the old one is lost and nothing in the
/// guest can have changed (support::ConnectionLost without may_have_run). Throws support::Error in
/// place of guest::FileError, and when the time that `tool` has set is over.
mcp::ToolResult Perform(Toolbox& toolbox, const mcp::ToolCall& call,
                        const std::function<mcp::ToolResult(Task&)>& tool);

}  // namespace tools
