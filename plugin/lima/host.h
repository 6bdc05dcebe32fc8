#pragma once

#include <cstdint>
#include <string>

namespace lima {

/// What mount templates may ask of the host, and what Lima's defaults depend on.
struct HostFacts {
  std::string home;  ///< of the user who runs this program ($HOME)
  std::string user;  ///< login name
  std::uint32_t uid = 0;
  std::string temp_dir;  ///< $TMPDIR, else "/tmp", as Go's os.TempDir

  std::string arch = {};  ///< as Lima writes it: "x86_64", "aarch64"
  /// Lima's default for a guest of the same architecture; for others it is "qemu" everywhere. Rule:
  /// DefaultDriver in Lima's pkg/limatype/lima_yaml.go.
  std::string vm_type = "qemu";
};

/// Asks the environment and the user database. Throws ConfigurationError when HOME is not set to an
/// absolute path, or when this user has no name.
HostFacts ReadHostFacts();

}  // namespace lima
