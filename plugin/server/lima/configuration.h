// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/errors.h"

/// Reads Lima's files on the host: instances and their configuration, mounts, ssh.config and
/// status. Does not depend on SSH or MCP. What is wrong in them is a support::Error with the file,
/// the entry and what to do.
namespace lima {

/// Most bytes of a configuration file, which may contain provision scripts.
inline constexpr std::size_t kMaxConfigurationFile = std::size_t{4} * 1024 * 1024;

/// An entry of `mounts:` as written, templates unevaluated.
struct MountEntry {
  std::string location;
  std::optional<std::string> mount_point;
  std::optional<bool> writable;
  std::optional<std::string> nine_p_cache;  ///< `9p.cache`
  std::string where;                        ///< for errors: "FILE: mounts[2] (line 14)"
};

/// What an instance shares with this host and with other guests besides its mounts.
struct SharedParts {
  std::vector<std::string> block_devices;     ///< disks of this host (`blockDevices`)
  std::string block_devices_where;            ///< the entry, for errors
  std::vector<std::string> additional_disks;  ///< of Lima's, for any instance
  std::vector<std::string> networks;          ///< names of Lima's, or sockets; not vzNAT
  bool microphone = false;
  bool host_loopback = true;  ///< `networkOpts.hostLoopback`, of vz since Lima 2.3
};

/// The part of an instance's configuration that this program needs. Other entries are ignored; a
/// null value is unset, as in Lima.
struct InstanceConfiguration {
  std::filesystem::path lima_home;
  std::string name;
  bool plain = false;
  bool plain_drops_mounts = false;  ///< there would be mounts without `plain`
  std::string os = "Linux";         ///< Linux, Darwin, FreeBSD or Windows
  /// In Lima's spelling: "x86_64", "aarch64". Empty for the host's own.
  std::optional<std::string> arch;
  std::optional<std::string> vm_type;     ///< empty for Lima's default on this host
  std::optional<std::string> mount_type;  ///< empty for the driver's default
  bool nine_p_is_unsupported = false;     ///< by `mountTypesUnsupported`: not the default then
  bool is_of_old_lima = false;  ///< created by Lima before 1.0: 9p is not the default then either
  bool forwards_agent = false;  ///< the host's SSH agent
  bool forwards_ports = true;   ///< of the guest to the host, without a rule for each
  SharedParts shared;
  std::optional<std::string> shell;  ///< `user.shell`
  /// Has no value for a key whose value Lima would print differently (1.50 as 1.5): a path that
  /// uses it is refused.
  std::map<std::string, std::optional<std::string>, std::less<>> param;
  std::vector<MountEntry> mounts;  ///< of all files, those with the same mountPoint not merged

  [[nodiscard]] std::filesystem::path directory() const { return lima_home / name; }

  /// `param.agentNetwork: closed`: says that its scripts closed the network; proves nothing.
  [[nodiscard]] bool closed() const { return Param("agentNetwork") == "closed"; }
  /// `param.hostHome`, a writable directory of a closed guest; empty if unset.
  [[nodiscard]] std::string host_home() const { return Param("hostHome"); }

 private:
  [[nodiscard]] std::string Param(std::string_view key) const {
    const auto found = param.find(key);
    return found == param.end() ? "" : found->second.value_or("");
  }
};

/// Sets what one file's text sets, appends its mounts, and replaces `param`. `file` is its name in
/// errors. Throws support::Error for text that Lima also rejects: invalid YAML, duplicate keys,
/// and wrong types of the entries read here.
void ApplyFile(std::string_view text, const std::string& file,
               InstanceConfiguration& configuration);

/// Merges the texts of `_config/default.yaml`, the instance's lima.yaml and `_config/override.yaml`
/// as Lima does: each wins over those before it, except that `param` is lima.yaml's own. Throws
/// support::Error for an invalid text. Follows FillDefault in Lima's pkg/limayaml/defaults.go.
InstanceConfiguration MergeConfiguration(const std::filesystem::path& lima_home,
                                         const std::string& name, std::string_view defaults,
                                         std::string_view main, std::string_view override_text);

/// Reads and merges the three files. Throws support::Error if the instance does not exist or a
/// file is invalid.
InstanceConfiguration LoadConfiguration(const std::filesystem::path& lima_home,
                                        const std::string& name);

/// The shell that `limactl shell` starts in the guest: `user.shell`, else Lima's default for the
/// guest's operating system. Throws support::Error for a Windows guest, which is not supported.
std::string LoginShell(const InstanceConfiguration& configuration);

}  // namespace lima
