#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "guest/guest.h"
#include "mcp/tool.h"
#include "paths/path_rules.h"
#include "support/context.h"

namespace tools {

/// What a call works on: a connected guest, and what is valid as long as that connection is. Take
/// one per call.
struct Workspace {
  std::shared_ptr<guest::Guest> guest;
  std::shared_ptr<const paths::PathRules> paths;

  /// The guest user's login shell as Lima would run it ("/bin/bash"); empty: the guest's "$SHELL".
  std::string shell;
};

/// The time limit of a file tool's call: enough for 32 MiB over a slow connection; clients give up
/// after 60 s at the earliest.
inline constexpr std::chrono::seconds kFileToolTimeLimit{55};

/// Adds a text block to a result, with invalid UTF-8 replaced; none if `note` is empty.
void AddNote(mcp::ToolResult& result, std::string_view note);

/// The connection to one instance.
class WorkspaceSource {
 public:
  virtual ~WorkspaceSource() = default;

  /// Returns the present connection, or a new one if there is none or it is lost. Waits until the
  /// context is stopped or its own deadline for connecting passes, and reports to `progress` what
  /// it waits for. Throws support::CallError with what to do (`limactl start NAME`) if the instance
  /// cannot be reached; the next call tries again. Thread-safe.
  virtual Workspace Acquire(const support::Context& context, mcp::ProgressReporter& progress) = 0;
};

/// How often WithWorkspace starts a call.
inline constexpr int kMaximumAttempts = 3;

/// Runs `work` with a workspace. If the connection is lost and nothing in the guest can have
/// changed (support::ConnectionLost without may_have_run), runs it again from the start on a new
/// connection, kMaximumAttempts times in all and within `context`. Throws what Acquire and `work`
/// throw. If the time ends in a later attempt, throws support::CallError that names the earlier
/// loss.
mcp::ToolResult WithWorkspace(WorkspaceSource& source, const support::Context& context,
                              mcp::ProgressReporter& progress,
                              const std::function<mcp::ToolResult(const Workspace&)>& work);

/// A call on one file or directory, the argument `path`.
struct FileCall {
  const Workspace& workspace;
  const support::Context& context;
  paths::ResolvedPath path = {};
  std::uint64_t needed_bytes = 0;  ///< of a write; for the error if the guest lacks room
};

/// WithWorkspace for such a call, within kFileToolTimeLimit. Throws support::CallError in place of
/// guest::FileError: "`action` PATH: …".
mcp::ToolResult WithFile(WorkspaceSource& source, const mcp::ToolCall& call, paths::Access access,
                         const std::string& action,
                         const std::function<mcp::ToolResult(FileCall&)>& work);

/// WithWorkspace with a time limit. When that passes, and no deadline of the caller's own, throws
/// support::CallError with a text that says how to ask for less: "`what` took longer than 60 s …".
mcp::ToolResult WithTimeLimit(
    WorkspaceSource& source, const mcp::ToolCall& call, const std::string& what,
    std::chrono::seconds limit,
    const std::function<mcp::ToolResult(const Workspace&, const support::Context&)>& work);

/// The value of an optional property that may also be null.
std::optional<std::string> OptionalText(const nlohmann::json& arguments, const char* property);

}  // namespace tools
