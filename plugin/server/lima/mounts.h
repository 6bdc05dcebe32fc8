// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lima/configuration.h"
#include "lima/home.h"

/// The host directories that an instance mounts. Follows the mounts part of FillDefault in Lima's
/// pkg/limayaml/defaults.go, and Validate in validate.go. Stricter than Lima: a template in a
/// mountPoint, one that cannot be evaluated (Lima keeps the raw text, or "<no value>") and an empty
/// or relative mountPoint are errors that name the file and the entry.
namespace lima {

/// The directory of the host that Lima's default template mounts writable.
inline constexpr const char* kSharedDirectory = "/tmp/lima";

struct Mount {
  std::string location = {};     ///< on the host; absolute and clean (support::CleanPath)
  std::string mount_point = {};  ///< in the guest; absolute and clean
  bool writable = false;

  /// Whether the guest may see stale files after the host has changed them: 9p with a cache that is
  /// never refreshed (fscache, Lima's default for read-only mounts, or loose). False if only an
  /// external driver knows the type.
  bool reads_may_be_stale = false;

  /// The 9p cache mode if this is a 9p mount: the configured one, else Lima's default.
  std::string nine_p_cache = {};

  /// The mountPoint as Lima stores it: evaluated but not cleaned.
  std::string unclean_mount_point = {};

  std::string writable_where = {};  ///< the entry that sets `writable`; empty if none does

  /// "9p", "virtiofs", "reverse-sshfs" or "wsl2"; empty if only an external driver knows it.
  std::string type = {};

  /// Whether the host keeps the guest's root from writing to a mount that is not `writable`. QEMU's
  /// and krunkit's virtiofs leave that to the guest.
  bool enforces_read_only = false;
};

/// The instance's driver: "qemu", "vz", "krunkit", …. Follows ResolveVMType in Lima's
/// pkg/driverutil/vm.go.
std::string DriverOf(const InstanceConfiguration& configuration,
                     const HostFacts& host = ReadHostFacts());

/// The tag of a 9p or virtiofs mount in the guest: "lima-" and the first eight bytes, in
/// hexadecimal, of the SHA-256 of "location:mountPoint". Follows MountTag in Lima's
/// pkg/limayaml/defaults.go. Earlier versions of Lima used "mount0", "mount1", ….
std::string MountTag(const Mount& mount);

/// The effective mounts, in Lima's order. Throws support::Error for an invalid entry.
std::vector<Mount> ListMounts(const InstanceConfiguration& configuration,
                              const HostFacts& host = ReadHostFacts());

/// Returns the value of a field, named without the leading dot: "Home", "Param.key". Throws
/// support::Error if there is no such field.
using FieldLookup = std::function<std::string(std::string_view name)>;

/// Evaluates the part of Go's text/template that paths use: fields such as {{.Name}},
/// {{ .Param.key }} and {{$.Name}}. Throws support::Error for everything else, because Lima
/// might evaluate it to another directory.
std::string EvaluateTemplate(std::string_view text, const FieldLookup& lookup);

}  // namespace lima
