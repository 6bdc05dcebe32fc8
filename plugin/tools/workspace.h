#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "guest/guest.h"
#include "mcp/tool.h"
#include "paths/path_rules.h"
#include "support/context.h"

namespace tools {

/// What a call works on: a connected guest, and what holds for as long as that connection does.
/// A value; take one per call and keep it to its end.
struct Workspace {
  std::shared_ptr<guest::Guest> guest;
  std::shared_ptr<const paths::PathRules> paths;

  /// The guest user's login shell as Lima would run it ("/bin/bash"); empty where none is known,
  /// and the guest's own "$SHELL" counts.
  std::string shell;
};

/// The time limit of a file tool's call: enough for 32 MiB over a slow connection; clients give up
/// after 60 s at the earliest.
inline constexpr std::chrono::seconds kFileToolTimeLimit{55};

/// Adds a text block to a result, with invalid UTF-8 replaced; none if `note` is empty.
void AddNote(mcp::ToolResult& result, std::string_view note);

/// Where workspaces come from: the connection to one instance.
class WorkspaceSource {
 public:
  virtual ~WorkspaceSource() = default;

  /// The present connection, or a new one when there is none or it has died. Waits for it at most
  /// until the context is stopped or its own deadline for connecting passes, and tells `progress`
  /// what it waits for. Throws support::CallError with what to do (`limactl start NAME`) when the
  /// instance is stopped, broken or cannot be reached; the next call tries again. Thread-safe.
  virtual Workspace Acquire(const support::Context& context, mcp::ProgressReporter& progress) = 0;
};

/// How often a call is begun at most; see WithWorkspace.
inline constexpr int kMaximumAttempts = 3;

/// Carries out a call that needs the guest: `work` is given a workspace. When the line breaks under
/// it and nothing in the guest can have changed (support::ConnectionLost without may_have_run), it
/// is done again from its beginning on a new connection, kMaximumAttempts times in all and within
/// `context`. What may have run is never repeated: that is the caller's to decide. Throws what
/// Acquire and `work` throw; when the time is over in a later attempt, support::CallError that
/// names what the one before it was lost to.
mcp::ToolResult WithWorkspace(WorkspaceSource& source, const support::Context& context,
                              mcp::ProgressReporter& progress,
                              const std::function<mcp::ToolResult(const Workspace&)>& work);

}  // namespace tools
