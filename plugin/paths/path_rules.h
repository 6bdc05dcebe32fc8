#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guest/guest.h"
#include "paths/directory_index.h"
#include "paths/guest_resolution.h"
#include "paths/mount_check.h"
#include "paths/roots.h"
#include "support/context.h"

/// The path rules: a file tool works under a root, or not at all.
namespace paths {

enum class Access {
  kRead,
  kList,  ///< as kRead; a directory is opened in the same burst
  kWrite
};

/// A path that has passed the rules.
struct ResolvedPath {
  std::string host;   ///< its host name, clean, links not resolved; for texts
  std::string guest;  ///< resolved by the guest; the only path to use
  /// Links followed; empty if nothing is there. If `directory` is set, only the type is known.
  std::optional<guest::FileAttributes> attributes;
  /// Open after Access::kList, unless the path led through a link. Must not outlive the guest.
  std::shared_ptr<const guest::OpenHandle> directory = {};
  /// If nothing is there: the deepest existing directory above `guest`. For writing it is under the
  /// same root.
  std::string existing_parent;
  /// Says that contents, sizes and times from here may be old, and how to change that. Empty if the
  /// guest always asks the host.
  std::string stale_note = {};
};

/// What may be used, and under which names. Resolve works in these steps:
///
/// 1. Translate. A path is the host's (a root's `host` or its resolved name) or the guest's (its
///    `guest`). The longest name counts, then the host's. A host path is refused if another mount
///    lies over it in the guest.
/// 2. Look up. The guest resolves the path, and in the same burst reports on its mount. A path in a
///    mount that is missing in the guest is refused.
/// 3. Check. The resolved path must lie under a root again. Its innermost mount must be there, and
///    for writing root and mount must be writable. Protected settings (protected_settings.h) are
///    not written, except under `--allow-path`.
///
/// A mount counts as the guest resolves it now, since it may come up late. Other roots count as
/// they were resolved first (PinnedRoots).
///
/// Round trips of Resolve: one (REALPATH, LSTAT or OPENDIR, STATVFS) if at most the last component
/// is missing; one more through a link, and for a kList that cannot be opened. Each further missing
/// component costs a RealPath, each dangling link LStat, LStat, ReadLink. One more to resolve the
/// roots and mounts: after connecting, before a refusal, and each time if a mount point is a link.
///
/// Thread-safe.
class PathRules {
 public:
  struct Options {
    std::vector<Root> roots;
    std::string instance;           ///< for texts
    std::string working_directory;  ///< of this program, on the host; may be empty
    bool allow_settings = false;    ///< `--allow-settings`
    /// All mounts of the instance. Empty: the roots that are not the guest's own.
    std::vector<Root> mounts;
    std::shared_ptr<MountCheck> mount_check;  ///< of `mounts`; null: nothing is checked
    PinnedRoots pins;
  };
  explicit PathRules(Options options);

  /// Call it once after connecting. Pins the roots of `--root` and `--allow-path`. Throws
  /// support::CallError for a `--root` that is missing in the guest, lies in a missing mount or
  /// under another mount, or resolves to a path outside its mount.
  void CheckRoots(guest::Guest& guest, const support::Context& context) const;

  /// Throws support::CallError, with the path and the roots, if `path` may not be used, and
  /// guest::FileError, with the path's host name, if the guest fails to resolve it. A missing file
  /// is no error.
  [[nodiscard]] ResolvedPath Resolve(std::string_view path, Access access, guest::Guest& guest,
                                     const support::Context& context) const;

  /// Says that a search below `guest_path` leaves out a mount that is missing in the guest; empty
  /// if it does not. One round trip for each mount there that was missing before.
  [[nodiscard]] std::string MissingNote(const std::string& guest_path, guest::Guest& guest,
                                        const support::Context& context) const;

  /// The host's name for a resolved guest path under a root; else the guest path itself.
  [[nodiscard]] std::string ToHost(std::string_view guest_path) const;

  /// Where glob and search look without a path: the working directory if it is under a root, else
  /// the only root. Throws support::CallError, listing the roots, if there is neither.
  [[nodiscard]] std::string DefaultDirectory() const;

 private:
  using MountNumber = std::optional<std::size_t>;  ///< in Options::mounts; empty: in no mount

  /// A translated path.
  struct Target {
    std::string host;
    std::string guest;
    std::string below_root;  ///< by the name that was given
    MountNumber mount;
  };
  /// The roots and mounts in the guest, links resolved. Missing ones are as written.
  struct Directories {
    DirectoryIndex roots;
    std::vector<bool> root_found;
    DirectoryIndex mount_index;
    std::vector<std::string> mounts;  ///< in the order of the options
  };
  using DirectoriesPointer = std::shared_ptr<const Directories>;

  [[nodiscard]] std::string Clean(std::string_view path) const;
  [[nodiscard]] Target Translate(std::string_view path) const;
  GuestLocation LookUp(const Target& target, Access access,
                       std::shared_ptr<const guest::OpenHandle>& directory, guest::Guest& guest,
                       const support::Context& context) const;
  [[nodiscard]] bool IsChecked(MountNumber mount) const { return mount && options_.mount_check; }
  void RequireMounted(std::size_t mount, MountState state, const std::string& shown) const;
  void RequireWritable(const Target& target, const GuestLocation& location, MountNumber mount,
                       const Directories& directories) const;
  [[nodiscard]] std::string StaleNote(MountNumber mount, const std::string& guest_path,
                                      const Directories& directories) const;
  void PinNarrowed(const Root& root, guest::Guest& guest, const support::Context& context) const;

  [[nodiscard]] DirectoriesPointer LastDirectories() const;
  DirectoriesPointer ResolveDirectories(guest::Guest& guest, const support::Context& context) const;
  DirectoriesPointer CurrentDirectories(const std::string& path, guest::Guest& guest,
                                        const support::Context& context) const;

  Options options_;
  DirectoryIndex host_names_;
  DirectoryIndex names_;  ///< of host and guest
  DirectoryIndex mount_points_;
  mutable std::mutex mutex_;  ///< guards the pointer only; not held during requests
  mutable DirectoriesPointer directories_;
};

}  // namespace paths
