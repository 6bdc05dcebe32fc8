#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lima/configuration_error.h"

namespace lima {

/// Bytes of one configuration file. Provision scripts stand in it, hence the room.
inline constexpr std::size_t kMaximumConfigurationFile = std::size_t{4} * 1024 * 1024;

/// Mounts in one file.
inline constexpr std::size_t kMaximumMounts = 1000;

/// An entry of `mounts:` as written, templates unevaluated.
struct MountEntry {
  std::string location;
  std::optional<std::string> mount_point;
  std::optional<bool> writable;
  std::optional<std::string> nine_p_cache;  ///< `9p.cache`
  std::string where;                        ///< for errors: "FILE: mounts[2] (line 14)"

  friend bool operator==(const MountEntry&, const MountEntry&) = default;
};

/// A value of `param:`.
struct Parameter {
  std::string text;
  /// Lima's reader would print the value otherwise than it is written (1.50 becomes 1.5): it is
  /// refused where a path needs it.
  bool is_rewritten = false;
};

struct GuestUser {
  std::optional<std::string> name;
  std::optional<std::string> home;  ///< a template
  std::string home_where;           ///< for errors
  std::optional<std::string> shell;
  std::optional<std::uint32_t> uid;
};

/// What one file says of the subjects of this program. Unset is what the file leaves to others; a
/// null value is unset, as in Lima. Entries that are not read here are not judged, except that the
/// whole file must be YAML without duplicate keys.
struct ConfigurationFile {
  std::optional<bool> plain;
  std::optional<std::string> os;
  std::optional<std::string> arch;
  std::optional<std::string> vm_type;
  std::optional<std::string> mount_type;
  bool nine_p_is_unsupported = false;  ///< `mountTypesUnsupported` names it
  GuestUser user;
  std::map<std::string, Parameter, std::less<>> param;
  std::vector<MountEntry> mounts;
};

/// Reads one file's text. `file` is its name for errors. Throws ConfigurationError for text that is
/// not YAML, duplicate keys, and wrong types of what is read here: what Lima refuses itself.
ConfigurationFile ParseConfiguration(std::string_view text, const std::string& file);

/// What the three files of an instance say together.
struct InstanceConfiguration {
  std::filesystem::path lima_home;
  std::string name;

  bool plain = false;
  std::string os = "Linux";  ///< Linux, Darwin, FreeBSD or Windows
  /// Empty where no file says: the host's own. As Lima writes it: "x86_64", "aarch64".
  std::optional<std::string> arch;
  std::optional<std::string> vm_type;     ///< empty: Lima's default for this host
  std::optional<std::string> mount_type;  ///< empty: the driver's default
  bool nine_p_is_unsupported = false;     ///< in any of the files: then that default is not 9p
  GuestUser user;
  std::map<std::string, Parameter, std::less<>> param;  ///< lima.yaml's own
  std::vector<MountEntry> mounts;  ///< of all files, in their order, not yet merged; empty if plain

  [[nodiscard]] std::filesystem::path directory() const { return lima_home / name; }
};

/// Merges as Lima does: `override_file` wins over `main`, which wins over `defaults`; mounts follow
/// each other in the order defaults, main, override. Throws ConfigurationError for an unknown `os`.
/// Rule: FillDefault in Lima's pkg/limayaml/defaults.go.
InstanceConfiguration MergeConfiguration(const std::filesystem::path& lima_home,
                                         const std::string& name, ConfigurationFile defaults,
                                         ConfigurationFile main, ConfigurationFile override_file);

/// Reads `_config/default.yaml`, the instance's lima.yaml and `_config/override.yaml` and merges
/// them. Throws ConfigurationError when there is no such instance, or when a file cannot be used.
InstanceConfiguration LoadConfiguration(const std::filesystem::path& lima_home,
                                        const std::string& name);

/// The shell that `limactl shell` starts in the guest: `user.shell`, else the one that Lima fills
/// in for the guest's operating system. Throws ConfigurationError for a Windows guest, which this
/// program does not serve, and for a shell that is not an absolute path.
std::string LoginShell(const InstanceConfiguration& configuration);

}  // namespace lima
