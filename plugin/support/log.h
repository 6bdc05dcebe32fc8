// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace support {

/// Writes one line "limactl-mcp: LEVEL: text" to standard error. `text` is made Printable, because
/// it may quote the guest. Never pass key material. Any thread; lines are written whole. Never
/// blocks: drops text that does not fit in a full pipe.
void LogInfo(std::string_view text);
void LogWarning(std::string_view text);
void LogError(std::string_view text);

}  // namespace support
