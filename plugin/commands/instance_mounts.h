#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lima/configuration.h"

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

/// The directories of the host that the guest can write. A read-only mount inside a writable one
/// does not count: the guest's root can unmount it.
class WritableMounts {
 public:
  /// Throws lima::ConfigurationError.
  explicit WritableMounts(const lima::InstanceConfiguration& configuration);

  /// The location of a mount that holds `path`, by its name or with links resolved; empty if there
  /// is none. `path` is absolute and need not exist.
  [[nodiscard]] std::optional<std::string> Above(const std::filesystem::path& path) const;

  /// As Above, or the location of a mount below `path`.
  [[nodiscard]] std::optional<std::string> Touching(const std::filesystem::path& path) const;

 private:
  struct Location {
    std::string written;
    std::string resolved;
  };
  std::vector<Location> locations_;
};

}  // namespace commands
