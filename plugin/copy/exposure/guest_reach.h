// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "lima/configuration.h"
#include "lima/mounts.h"
#include "support/paths.h"

namespace exposure {

/// The directories of the host that the guest can write or read, according to Lima's files. A
/// read-only mount inside a writable one counts as writable: the guest's root can unmount it. So
/// does one that the host does not keep read-only.
class GuestReach {
 public:
  enum class Access : std::uint8_t { kWriting, kReading };

  GuestReach() = default;  ///< without mounts
  explicit GuestReach(const std::vector<lima::Mount>& mounts, Access access = Access::kWriting);

  /// The location of the mount that holds `path` or a link on its way; empty if there is none.
  /// `path` is absolute and need not exist.
  [[nodiscard]] std::optional<std::string> MountHolding(const std::filesystem::path& path) const;

  /// The location of a mount that does not lie in `directory`, but for Lima's own; empty if there
  /// is none.
  [[nodiscard]] std::optional<std::string> MountOutside(
      const std::filesystem::path& directory) const;

  /// The same, or else the location of a mount below `path`.
  [[nodiscard]] std::optional<std::string> MountHoldingOrBelow(
      const std::filesystem::path& path) const;

  /// Whether `text` has the path of a mount, or an absolute path inside one: alone, in a
  /// list such as $PATH, or in a shell's command.
  [[nodiscard]] bool IsNamedIn(const std::string& text) const;

  /// `path`, a value of $PATH, without directories in the guest's reach and relative ones: programs
  /// planted there would run on the host.
  [[nodiscard]] std::string SafeSearchPath(const std::string& path) const;

  /// The first executable file `name` in the directories of SafeSearchPath(path). Throws
  /// support::Error if it lies in the guest's reach, behind a link.
  [[nodiscard]] std::optional<std::filesystem::path> FindProgram(const std::string& name,
                                                                 const std::string& path) const;

 private:
  [[nodiscard]] std::optional<std::string> LocationHolding(const std::string& path) const;

  struct Location {
    std::string written;
    std::string resolved;
  };
  std::vector<Location> locations_;
};

struct Step {
  std::string path;
  bool is_link = false;
};

/// The places on the way of an absolute path, name by name and through links: at most `links`. No
/// link is above one. The last is what it leads to.
std::vector<Step> StepsOf(const std::filesystem::path& path, int links = support::kMaxLinks);

/// `path` of the host with its links resolved, as far as they can be.
std::string ResolvedOnHost(const std::filesystem::path& path);

}  // namespace exposure
