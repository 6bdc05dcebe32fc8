#pragma once

#include <cstdint>
#include <string>

namespace lima {

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

/// Throws ConfigurationError when HOME is not an absolute path, or this user has no name.
HostFacts ReadHostFacts();

}  // namespace lima
