// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guest/guest.h"
#include "paths/host_programs.h"
#include "paths/mount_check.h"
#include "paths/roots.h"
#include "support/context.h"

/// The path rules: file tools work only under a root.
namespace paths {

enum class Access {
  kRead,
  kList,  ///< as kRead; also opens a directory, in the same round trip
  kWrite
};

struct GuestLocation {
  std::string guest;  ///< resolved by the guest: absolute, without links, "." and ".."
  std::optional<guest::FileAttributes> attributes;  ///< empty if nothing is there
  std::string existing_parent = {};  ///< in that case, the deepest existing directory above
};

/// A path that has passed the rules. `guest` is the only path to use. If `directory` is set, only
/// the type is known of the attributes. For kWrite, `existing_parent` is under the same root.
struct ResolvedPath : GuestLocation {
  std::string host;  ///< its path on the host, clean, links not resolved; for messages only
  /// Open after Access::kList, unless the path contains a link or is missing. Must not outlive the
  /// guest.
  std::shared_ptr<const guest::OpenFile> directory = {};
  bool reads_may_be_stale = false;  ///< its mount's
};

/// Translates a client's path, and decides whether a tool may use it. Resolve has three steps:
///
/// 1. Translate. A path under a root's `host`, or what that resolves to, is a host path; one under
///    its `guest` is a guest path. The longest match wins, then the host's. Refuses a host path
///    that another mount covers in the guest.
/// 2. Look up. The guest resolves the path and, in the same round trip, reports its mount if that
///    may be missing or the path is for writing. Refuses a path in a mount that is missing in the
///    guest.
/// 3. Check. The resolved path must be under a root too. Its innermost mount must exist; for
///    writing, the root and the mount must be writable. Refuses to write what programs on the host
///    obey (`host_programs`, Lima's own), except under `--allow-path`, and to read Lima's private
///    key. A file HEAD is refused everywhere, so no
///    bare repository can be made step by step; one that is there is protected by its HEAD.
///
/// Mounts are resolved anew, since one may appear late. Other roots keep the path that they first
/// resolved to (PinnedRoots). Resolve takes one round trip for an ordinary path;
/// tests/unit/server/tools/round_trips_test.cc lists the others. Thread-safe.
class PathRules {
 public:
  struct Options {
    std::vector<Root> roots;
    std::string instance;               ///< for messages only
    std::string working_directory;      ///< of this program, on the host; may be empty
    bool allow_settings = false;        ///< `--allow-settings`
    paths::HostPrograms host_programs;  ///< whose files are not written without that
    std::string lima_home = {};         ///< on the host, links resolved: the same for it
    /// All mounts of the instance. If empty, the roots that are not the guest's own.
    std::vector<Root> mounts;
    std::shared_ptr<MountCheck> mount_check;  ///< checks `mounts`; null for no checks
    std::shared_ptr<PinnedRoots> pins = std::make_shared<PinnedRoots>();
  };
  explicit PathRules(Options options);

  /// Call it once after connecting. Pins the roots of `--root` and `--allow-path`. Throws
  /// support::Error for a `--root` that is missing in the guest, is in a missing mount, is
  /// covered by another mount, or resolves to a path outside its mount.
  void CheckRoots(guest::Guest& guest, const support::Context& context) const;

  /// Throws support::Error, with the path and the roots, if `path` is refused. Throws
  /// guest::FileError, with the host path, if the guest fails to resolve it. A missing file is not
  /// an error.
  [[nodiscard]] ResolvedPath Resolve(std::string_view path, Access access, guest::Guest& guest,
                                     const support::Context& context) const;

  /// A warning that a search below `guest_path` skips a mount that is missing in the guest; empty
  /// if there is none. Takes one round trip for each mount there that was missing before.
  [[nodiscard]] std::string MissingNote(const std::string& guest_path, guest::Guest& guest,
                                        const support::Context& context) const;

  /// The host path for a resolved guest path under a root; else the guest path itself.
  [[nodiscard]] std::string ToHost(std::string_view guest_path) const;

  /// The roots, resolved by the guest when they were last looked up.
  [[nodiscard]] std::vector<std::string> RootsInGuest() const;

  /// The directory for a call without a path: the working directory if it is under a root, else the
  /// only root. Throws support::Error, with the roots, if there is neither.
  [[nodiscard]] std::string DefaultDirectory() const;

 private:
  using MountNumber = std::optional<std::size_t>;  ///< index in Options::mounts; empty for no mount

  /// A translated path.
  struct Target {
    std::string host;
    std::string guest;
    std::string below_root;  ///< the part of the given path below its root
    MountNumber mount;
  };
  /// The roots and mounts in the guest, links resolved. Missing ones keep their configured path.
  struct Directories {
    DirectoryIndex roots;
    std::vector<bool> root_found;
    DirectoryIndex mount_index;
    std::vector<std::string> mounts;  ///< in the order of the options
  };
  using DirectoriesPointer = std::shared_ptr<const Directories>;

  [[nodiscard]] std::string Clean(std::string_view given) const;
  [[nodiscard]] Target Translate(std::string_view path) const;
  ResolvedPath LookUp(const Target& target, Access access, guest::Guest& guest,
                      const support::Context& context) const;
  [[nodiscard]] bool MustCheck(MountNumber mount, Access access) const;
  void RequireMounted(std::size_t mount, MountState state, const std::string& shown) const;
  void RequireWritable(const Target& target, const GuestLocation& location, MountNumber mount,
                       const Directories& directories) const;
  void RequireNotLimas(const Target& target, const std::string& guest_path, Access access,
                       const Directories& directories) const;
  void RequireUnprotected(const Target& target, const std::string& guest_path,
                          const Directories& directories, guest::Guest& guest,
                          const support::Context& context) const;
  void PinNarrowed(const Root& root, guest::Guest& guest, const support::Context& context) const;

  [[nodiscard]] DirectoriesPointer LastDirectories() const;
  DirectoriesPointer ResolveDirectories(guest::Guest& guest, const support::Context& context) const;
  DirectoriesPointer CurrentDirectories(const std::string& path, guest::Guest& guest,
                                        const support::Context& context) const;

  Options options_;
  DirectoryIndex host_names_;
  DirectoryIndex names_;  ///< host and guest paths
  DirectoryIndex mount_points_;
  mutable std::mutex mutex_;  ///< guards the pointer only; not held during requests
  mutable DirectoriesPointer directories_;
};

/// Resolves an absolute path that need not exist, including dangling links. `found` is the guest's
/// reply for the path. It is empty for kNotFound, which OpenSSH's server also replies in a link
/// loop and below a file: this follows the components itself then. Throws guest::FileError if the
/// guest refuses, and support::Error, with `shown` as the path, in those two cases.
GuestLocation ResolveInGuest(std::string path, std::optional<GuestLocation> found,
                             const std::string& shown, guest::Guest& guest,
                             const support::Context& context);

}  // namespace paths
