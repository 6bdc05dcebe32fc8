// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lima {

/// Most bytes of ssh.config; Lima writes less than one thousand.
inline constexpr std::size_t kMaxSshConfig = std::size_t{256} * 1024;

/// What ssh.config says of the guest's host key; see ssh_config(5).
struct HostKeyRules {
  /// The name under which it is recorded, in lower case: HostKeyAlias, else the address.
  std::string name;
  std::vector<std::string> files;  ///< UserKnownHostsFile and GlobalKnownHostsFile: absolute paths
  bool is_strict = false;          ///< StrictHostKeyChecking is yes: a key must be recorded

  friend bool operator==(const HostKeyRules&, const HostKeyRules&) = default;
};

/// The address of the guest's sshd, the user and the keys.
struct SshEndpoint {
  std::string host;  ///< name or address
  std::uint16_t port = 0;
  std::string user;
  std::vector<std::string> identity_files;  ///< absolute paths of private keys, in their order
  /// The value in the file ("^aes128-gcm@openssh.com,aes256-gcm@openssh.com"); may be empty. A
  /// leading '^' puts these before the defaults.
  std::string ciphers;
  std::string instance = {};  ///< its name
  HostKeyRules host_key = {};

  friend bool operator==(const SshEndpoint&, const SshEndpoint&) = default;
};

/// Reads an instance's ssh.config as Lima writes it: the options under `Host lima-NAME`. There are
/// no defaults: a missing or invalid HostName, Port, User or IdentityFile is an error, since a
/// default could be another machine. Refuses what would change the connection (Proxy…, Include,
/// Match), and options on host keys that it cannot obey, also before the first Host and under
/// patterns. Ignores other keywords. Throws support::Error that starts with `file`.
SshEndpoint ParseSshConfig(std::string_view text, const std::string& instance_name,
                           const std::string& file);

/// Reads `instance_directory`/ssh.config. Call this before every connection, because Lima may write
/// another port at each start. Throws support::Error if the file is missing or invalid.
SshEndpoint ReadSshConfig(const std::filesystem::path& instance_directory,
                          const std::string& instance_name);

}  // namespace lima
