#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "support/file_descriptor.h"

namespace lima {

/// The text of a regular file, links followed; nothing if it does not exist. Throws
/// ConfigurationError when it cannot be read, is not a file, or has more than `limit` bytes. Never
/// waits for a FIFO.
std::optional<std::string> ReadTextFile(const std::filesystem::path& path, std::size_t limit);

/// The same for a file opened with O_NONBLOCK; `path` is for errors.
std::string ReadTextFile(const support::FileDescriptor& file, const std::filesystem::path& path,
                         std::size_t limit);

}  // namespace lima
