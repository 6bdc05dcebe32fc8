#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace commands {

/// What is known to keep a server of the instance from using the project.
struct InstanceNote {
  std::string text;       ///< with what to do, in a sentence; empty if nothing is known
  bool is_usable = true;  ///< false: every call of a tool would fail
};

/// Reads Lima's files only; the instance need not run. `project` is
/// absolute, without links, and left out where no single one is meant.
InstanceNote NoteOnInstance(const std::string& instance,
                            const std::optional<std::filesystem::path>& project);

}  // namespace commands
