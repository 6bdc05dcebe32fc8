#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "guest/guest.h"
#include "mcp/tool.h"
#include "tools/workspace.h"

namespace tools {

/// Go's io/fs.FileMode number for what is there: type and special bits from 1<<19 upwards,
/// rwxrwxrwx below (package io/fs, constants ModeDir … ModeIrregular).
std::int64_t GoFileMode(const guest::FileAttributes& attributes);

/// "2026-11-21T05:04:00Z" (RFC 3339); empty for years beyond 0 to 9999, which it cannot express.
std::string FormatTime(std::int64_t seconds_since_1970);

/// What `list_directory` gives for these: JSON text, sorted by name.
std::string EntriesText(std::vector<guest::DirectoryEntry> entries);

/// `list_directory`: what is in one directory, by name, byte by byte. Links are listed as links. A
/// name that is not valid UTF-8 shows U+FFFD for each bad byte, since JSON has no other way.
/// Round trips: two for a path without links: the mount, where the path leads and the directory
/// opened; the names and their end. OpenSSH's server gives a hundred names at a time; a longer
/// directory takes more, of which up to sixteen are on their way at once. Nobody waits for the
/// close. Two more through a link, one more to find that there is no directory.
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
