// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/environment.h"
#include "support/errors.h"

namespace lima {

/// Most bytes of an instance's name; from Lima's pkg/identifiers.
inline constexpr std::size_t kMaxInstanceName = 76;

/// Throws support::Error unless Lima accepts `name` for an instance (pkg/identifiers/
/// validate.go). A valid name is a single path component, safe to use in paths.
void CheckInstanceName(std::string_view name);

/// The guest's host name, also in ssh.config: "lima-" and the instance's name with '-' for '.' and
/// '_'. Follows Lima's pkg/instance/hostname.
std::string HostnameOf(std::string_view name);

/// The directory of all instances: $LIMA_HOME, else $HOME/.lima, with links resolved if it exists.
/// Throws support::Error when neither is set, for a relative path, and when its links cannot be
/// resolved. Follows Lima's pkg/limatype/dirnames.
std::filesystem::path HomeDirectory(
    const std::string& lima_home = support::EnvironmentVariable("LIMA_HOME"),
    const std::string& user_home = support::EnvironmentVariable("HOME"));

/// Sorted names of all readable instances: directories, not links, with a lima.yaml. Empty if
/// `home` does not exist. Throws support::Error when it cannot be read.
std::vector<std::string> ListInstances(const std::filesystem::path& home);

/// Throws support::Error unless the instance has a lima.yaml; the message lists the instances
/// and how to create this one. Also throws like CheckInstanceName.
void RequireInstance(const std::filesystem::path& home, const std::string& name,
                     bool mountless = false);

/// Facts about the host that mount templates and Lima's defaults use.
struct HostFacts {
  std::string home;  ///< of the user who runs this program ($HOME)
  std::string user;  ///< login name
  std::uint32_t uid = 0;
  std::string temp_dir;  ///< $TMPDIR, else "/tmp", as Go's os.TempDir

  std::string arch = {};  ///< as Lima writes it: "x86_64", "aarch64"
  /// Lima's default driver for a guest of the same architecture; for others it is "qemu". Follows
  /// DefaultDriver in Lima's pkg/limatype/lima_yaml.go.
  std::string vm_type = "qemu";
};

/// Throws support::Error when HOME is not an absolute path, or this user has no name.
HostFacts ReadHostFacts();

}  // namespace lima
