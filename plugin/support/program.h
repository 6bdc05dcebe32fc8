// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace support {

/// The first executable file `name` in the directories of `path`, a value of $PATH. Links are not
/// resolved.
std::optional<std::filesystem::path> FindProgram(const std::string& name, const std::string& path);

/// The path of this program's file. Throws Error.
std::filesystem::path OwnProgram();

}  // namespace support
