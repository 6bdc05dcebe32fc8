#pragma once

#include <string_view>

namespace support {

/// Writes one line "limactl-mcp: LEVEL: text" to standard error. `text` is made Printable, because
/// it may quote the guest. Never pass key material. Any thread; lines are written whole. Never
/// waits: what a full pipe does not take is lost.
void LogInfo(std::string_view text);
void LogWarning(std::string_view text);
void LogError(std::string_view text);

}  // namespace support
