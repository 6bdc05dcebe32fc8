// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace support {

/// The bytes of a file; empty if it cannot be read.
std::string ReadText(const std::filesystem::path& path);

/// Replaces the file at once, so that a killed command leaves the old one or the new one, and
/// perhaps `path`.NUMBER.lock. Throws support::Error.
void WriteText(const std::filesystem::path& path, const std::string& text);

}  // namespace support
