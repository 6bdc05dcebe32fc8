#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "support/file_descriptor.h"

namespace lima {

/// Reads a regular file, following links; nullopt if it does not exist. Throws ConfigurationError
/// if it cannot be read, is not a regular file, or has more than `limit` bytes. Does not block on a
/// FIFO.
std::optional<std::string> ReadTextFile(const std::filesystem::path& path, std::size_t limit);

/// The same for a file opened with O_NONBLOCK; `path` is for error messages.
std::string ReadTextFile(const support::FileDescriptor& file, const std::filesystem::path& path,
                         std::size_t limit);

}  // namespace lima
