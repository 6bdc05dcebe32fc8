#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lima/mounts.h"
#include "paths/directory_index.h"

/// From Lima's mounts and the options of `serve` to the directories that the agent may use.
namespace paths {

/// A directory that the agent may use. Paths are absolute and clean.
struct Root {
  std::string host;   ///< as the agent knows it: the mount's location
  std::string guest;  ///< the mount's mountPoint
  bool writable = false;
  std::string resolved_host = {};   ///< `host` with its links resolved; empty: the same
  bool reads_may_be_stale = false;  ///< by Lima's files; MountCheck knows the state in the guest
  std::string written_guest = {};   ///< the mountPoint as Lima compares it; empty: `guest`
  bool is_guests_own = false;       ///< `--allow-path`: not a mount
  std::string narrowed_from = {};   ///< `--root`: the mountPoint of its mount; empty: all of it
};

/// What the roots of `--root` and `--allow-path` resolved to in the guest the first time. They are
/// ordinary directories, which a command can replace by a link; the first resolution counts while
/// this program runs, also after a reconnect. Copies share their state. Thread-safe.
class PinnedRoots {
 public:
  [[nodiscard]] std::optional<std::string> Find(const Root& root) const;

  /// Returns the resolution that counts: the first one.
  std::string Pin(const Root& root, const std::string& resolved) const;

 private:
  struct State {
    std::mutex mutex;
    std::map<std::string, std::string> first;  // by guest path
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// `--allow-path DIR[:w]`: a directory of the guest, under the same name on the host.
struct AllowedPath {
  std::string directory;  ///< absolute and clean
  bool writable = false;
};

/// Throws support::CallError if DIR is not absolute.
AllowedPath ParseAllowedPath(const std::string& value);

/// `--root DIR`: a directory of the host, the only part of its mount that may be used.
struct NarrowedRoot {
  std::string directory;  ///< absolute and clean
  /// With its links resolved when the option was read; empty if it has no links. Never
  /// resolved again: the guest may change links in a writable mount.
  std::string resolved = {};
};

/// Relative directories are taken from the working directory. Throws support::CallError for "".
NarrowedRoot ParseNarrowedRoot(const std::string& value);

struct RootOptions {
  std::vector<NarrowedRoot> narrowed_roots;  ///< `--root`; empty: every mount
  std::vector<AllowedPath> allowed_paths;    ///< `--allow-path`
};

/// "/a (writable), /b (read-only)"
std::string FormatRoots(const std::vector<Root>& roots);

/// The host's names of the roots. A directory that is one root's own name and another's resolved
/// one belongs to the former.
DirectoryIndex HostNames(const std::vector<Root>& roots);

/// One root for each mount.
std::vector<Root> RootsOfMounts(const std::vector<lima::Mount>& mounts);

/// The mounts, narrowed by `--root`, and the allowed paths. A narrowed root has the rights of its
/// mount, found by the directory's name or else by its resolved name; mounts nested in it stay.
/// Throws support::CallError, listing the mounts, for a `--root` outside all of them.
std::vector<Root> SelectRoots(const std::vector<lima::Mount>& mounts, const RootOptions& options);

}  // namespace paths
