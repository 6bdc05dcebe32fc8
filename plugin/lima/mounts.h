#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lima/configuration.h"
#include "lima/host.h"

/// The directories of the host that an instance mounts. Rule: the mounts part of FillDefault in
/// Lima's pkg/limayaml/defaults.go, and Validate in validate.go. Stricter than Lima where Lima
/// would go on with something that nobody meant: a template that cannot be evaluated here or names
/// what does not exist (Lima goes on with the raw text, or "<no value>"), and a mountPoint that is
/// empty or relative, are errors that name the file and the entry.
namespace lima {

/// What only the guest knows. `user` stands in ssh.config; the rest is asked of the guest itself,
/// and only where NeededGuestFacts says so.
struct GuestFacts {
  std::optional<std::string> user;
  std::optional<std::string> home;
  std::optional<std::uint32_t> uid;
};

struct Mount {
  std::string location;     ///< on the host; absolute and clean (support::CleanPath)
  std::string mount_point;  ///< in the guest; absolute and clean
  bool writable = false;

  /// The 9p cache mode that counts if this is a 9p mount: the given one, else Lima's default.
  std::string nine_p_cache;

  /// Whether files under it may go on looking old in the guest after the host has changed them: 9p
  /// with a cache that never asks again (fscache, Lima's default for read-only mounts, or loose).
  /// True also where the mount type is the driver's choice and may be 9p.
  bool reads_may_be_stale = false;

  /// The mountPoint as Lima has it, evaluated but not cleaned: Lima's mount tag is made of
  /// "location:mountPoint".
  std::string unclean_mount_point;

  friend bool operator==(const Mount&, const Mount&) = default;
};

struct NeededGuestFacts {
  bool home = false;
  bool uid = false;
};

/// Which facts of the guest EvaluateMounts will want: those that a template uses and no file gives.
/// Templates in error need nothing; EvaluateMounts reports them.
NeededGuestFacts NeededFacts(const InstanceConfiguration& configuration);

/// The effective mounts, in Lima's order. Throws ConfigurationError for an entry that cannot be
/// used, and where a needed fact of the guest is not given.
std::vector<Mount> EvaluateMounts(const InstanceConfiguration& configuration, const HostFacts& host,
                                  const GuestFacts& guest);

/// A mount as far as it is known before there is a guest.
struct MountLocation {
  std::string location;                    ///< on the host; absolute and clean
  std::optional<std::string> mount_point;  ///< empty while the guest must be asked for it
  bool writable = false;
  bool reads_may_be_stale = false;  ///< see Mount

  friend bool operator==(const MountLocation&, const MountLocation&) = default;
};

/// The same list without the guest, to be shown, never to be enforced: an entry whose mountPoint is
/// not known yet may later turn out to be one with another entry. Throws like EvaluateMounts, but
/// never for a missing fact.
std::vector<MountLocation> ListLocations(const InstanceConfiguration& configuration,
                                         const HostFacts& host, const GuestFacts& guest);

}  // namespace lima
