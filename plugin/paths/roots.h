#pragma once

#include <string>
#include <vector>

#include "lima/mounts.h"
#include "paths/path_rules.h"

/// From Lima's mounts and the options of `serve` to the roots of the path rules.
namespace paths {

/// `--allow-path DIR[:w]`: a directory of the guest that is a root too, under the same name in host
/// and guest.
struct AllowedPath {
  std::string directory;  ///< absolute and clean
  bool writable = false;
};

/// Reads the value of `--allow-path`. Throws support::CallError when DIR is not absolute.
AllowedPath ParseAllowedPath(const std::string& value);

/// `--root DIR`: a directory of the host, all that is to be used of the mount it lies in.
struct NarrowedRoot {
  std::string directory;  ///< absolute and clean
  /// Where its links led on the host when it was read; empty where that is no other path, or
  /// nothing was there. Never asked again: a guest may change links in a writable mount.
  std::string resolved = {};
};

/// Reads the value of `--root`, against this program's working directory. Throws support::CallError
/// when it is empty.
NarrowedRoot ParseNarrowedRoot(const std::string& value);

/// One root for each mount, with the host's own resolution of its location as an alias.
std::vector<paths::Root> RootsOfMounts(const std::vector<lima::Mount>& mounts);

/// A root, and the mount that `--root` cut it out of.
struct BoundedRoot {
  paths::Root root;
  /// Guest path of the mount: in the guest, the root must resolve to a place in it, or a link would
  /// widen what `--root` was meant to narrow. The root's own path where nothing was cut.
  std::string boundary;
};

/// The roots that remain of `roots` when only `directories` are wanted: each directory with the
/// rights of the mount it lies under (by its name, else by what its links led to), and the mounts
/// nested in it. All of them when there are no `directories`. Throws support::CallError, listing
/// the mounts, for a directory that lies under none.
std::vector<BoundedRoot> Narrow(const std::vector<paths::Root>& roots,
                                const std::vector<NarrowedRoot>& directories);

/// Throws support::CallError where another of the `mounts` lies in the guest over what `--root` cut
/// out of its mount: what the guest has under that name are other files of the host. Not asked by
/// Narrow, since not every mountPoint is known before there is a guest.
void RequireUncovered(const BoundedRoot& bounded, const std::vector<paths::Root>& mounts);

/// What `serve` was told to allow.
struct RootOptions {
  std::vector<NarrowedRoot> narrowed_roots;  ///< `--root`; empty: every mount
  std::vector<AllowedPath> allowed_paths;    ///< `--allow-path`
};

/// All of the above together: the mounts, narrowed, and the allowed paths.
std::vector<BoundedRoot> SelectRoots(const std::vector<lima::Mount>& mounts,
                                     const RootOptions& options);

}  // namespace paths
