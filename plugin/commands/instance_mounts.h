#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "paths/guest_reach.h"

/// The mounts of an instance according to Lima's files; the instance need not run.
namespace commands {

/// Why a server of the instance could not use the project.
struct InstanceNote {
  std::string text;       ///< with what to do; empty if nothing is known
  bool is_usable = true;  ///< false: every call of a tool would fail
};

/// `project` is absolute, without links; empty for several projects.
InstanceNote NoteOnInstance(const std::string& instance,
                            const std::optional<std::filesystem::path>& project);

/// What the guest of the instance can write; nothing if Lima's files cannot be used.
paths::GuestReach ReachOf(const std::string& instance);

}  // namespace commands
