#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "guest/guest.h"
#include "mcp/tool.h"
#include "tools/workspace.h"

namespace tools {

/// Go's io/fs.FileMode number: type and special bits from 1<<19 upwards, rwxrwxrwx below (package
/// io/fs, constants ModeDir … ModeIrregular).
std::int64_t GoFileMode(const guest::FileAttributes& attributes);

/// "2026-11-21T05:04:00Z" (RFC 3339); empty for years that it cannot express, beyond 0 to 9999.
std::string FormatTime(std::int64_t seconds_since_1970);

/// The result of `list_directory` as JSON text, sorted by name.
std::string EntriesText(std::vector<guest::DirectoryEntry> entries);

/// `list_directory`: the names in one directory. Links are listed as links. U+FFFD replaces bytes
/// that are not UTF-8. Round trips: two for a path without links, the path rules' (which opens the
/// directory) and the names. OpenSSH's server sends a hundred names at a time; of a longer
/// directory up to sixteen such parts are requested at once. Two more through a link, one more if
/// there is no such directory.
class ListDirectoryTool final : public mcp::Tool {
 public:
  /// `workspaces` must outlive the tool.
  explicit ListDirectoryTool(WorkspaceSource& workspaces) : workspaces_(workspaces) {}

  [[nodiscard]] const mcp::ToolDefinition& definition() const override;
  mcp::ToolResult Call(const mcp::ToolCall& call) override;

 private:
  WorkspaceSource& workspaces_;
};

}  // namespace tools
