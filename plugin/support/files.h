// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "support/file_descriptor.h"

/// Files of the host.
namespace support {

/// Reads a file, following links; nullopt if it does not exist. Throws Error if it cannot be read,
/// is not a regular file (a FIFO does not block), or has more than `limit` bytes.
std::optional<std::string> ReadFile(const std::filesystem::path& path, std::size_t limit);

/// The same for a file opened with O_NONBLOCK; `path` is for error messages.
std::string ReadFile(const FileDescriptor& file, const std::filesystem::path& path,
                     std::size_t limit);

/// The bytes of a file; empty if it cannot be read.
std::string ReadText(const std::filesystem::path& path);

/// Replaces the file at once, so that a killed command leaves the old one or the new one, and
/// perhaps `path`.NUMBER.lock. Throws support::Error.
void WriteText(const std::filesystem::path& path, const std::string& text);

}  // namespace support
