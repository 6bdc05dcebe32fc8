// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "support/errors.h"
#include "support/file_descriptor.h"

/// Reads Lima's files on the host: instances and their configuration, mounts, ssh.config and
/// status. Does not depend on SSH or MCP.
namespace lima {

/// One of Lima's files or an instance's name is invalid. The message has the file, the entry and
/// what to do.
class ConfigurationError : public support::Error {
 public:
  using Error::Error;
};

/// Reads a file, following links; nullopt if it does not exist. Throws ConfigurationError if it
/// cannot be read, is not a regular file (a FIFO does not block), or has more than `limit` bytes.
std::optional<std::string> ReadTextFile(const std::filesystem::path& path, std::size_t limit);

/// The same for a file opened with O_NONBLOCK; `path` is for error messages.
std::string ReadTextFile(const support::FileDescriptor& file, const std::filesystem::path& path,
                         std::size_t limit);

}  // namespace lima
