#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "support/file_descriptor.h"

namespace lima {

/// The whole text of a regular file (links followed) of at most `limit` bytes. Empty when nothing
/// of that name exists. Throws ConfigurationError when it cannot be read, is something else than a
/// file (a FIFO is not waited for), or is larger.
std::optional<std::string> ReadTextFile(const std::filesystem::path& path, std::size_t limit);

/// The same of a file that is open already, without waiting (O_NONBLOCK); `path` is for the errors.
std::string ReadTextFile(const support::FileDescriptor& file, const std::filesystem::path& path,
                         std::size_t limit);

}  // namespace lima
