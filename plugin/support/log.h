#pragma once

#include <string_view>

namespace support {

/// Writes one line "limactl-mcp: LEVEL: text" to standard error. Standard output belongs to the
/// MCP transport alone. `text` is made Printable (printable.h), so that what a guest printed cannot
/// drive the terminal that shows the log. Never pass key material.
/// Any thread may call these; a line is written whole. Never waits for whoever reads: what a full
/// pipe does not take is lost.
void LogInfo(std::string_view text);
void LogWarning(std::string_view text);
void LogError(std::string_view text);

}  // namespace support
