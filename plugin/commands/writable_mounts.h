#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lima/configuration.h"
#include "paths/directory_index.h"

namespace commands {

/// The directories of the host that the guest may write, as far as Lima's files tell. A read-only
/// mount inside a writable one does not count: the guest's root can unmount it.
class WritableMounts {
 public:
  /// Throws lima::ConfigurationError.
  explicit WritableMounts(const lima::InstanceConfiguration& configuration);

  /// The location of a mount that holds `path`, by its name or with links resolved; empty if there
  /// is none. `path` is absolute and need not exist.
  [[nodiscard]] std::optional<std::string> Above(const std::filesystem::path& path) const;

  /// As Above, and the location of a mount that lies below `path`.
  [[nodiscard]] std::optional<std::string> Touching(const std::filesystem::path& path) const;

 private:
  struct Location {
    std::string written;
    std::string resolved;
  };
  std::vector<Location> locations_;
  paths::DirectoryIndex index_;  ///< of both names
};

}  // namespace commands
