#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace commands {

/// What is known to keep a server of the instance from using the project, and what to do, in a
/// sentence; empty if nothing is. Reads Lima's files only; the instance need not run. `project` is
/// absolute, without links, and left out where no single one is meant.
std::string NoteOnInstance(const std::string& instance,
                           const std::optional<std::filesystem::path>& project);

}  // namespace commands
