// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guest/guest.h"
#include "lima/mounts.h"
#include "support/context.h"

namespace paths {

/// One line of Linux's mount table, /proc/self/mountinfo (proc_pid_mountinfo(5)), with its escapes
/// (such as \040) decoded.
struct MountLine {
  std::string root;         ///< the mounted part of the file system; "/" for all of it
  std::string mount_point;  ///< as the reading process sees it
  std::string type;         ///< "9p", "virtiofs", "fuse.sshfs", …
  std::string source;       ///< of 9p and virtiofs: the tag
};

/// Ignores lines that are not mounts.
std::vector<MountLine> ParseMountTable(const std::string& text);

/// The mount that contains `path` (absolute, clean, without links): the last in the table, which
/// hides earlier ones. That is wrong for what was mounted before the system's root, but Lima mounts
/// later. Null if there is none.
const MountLine* FindMount(const std::vector<MountLine>& table, std::string_view path);

struct MountState {
  /// If false, the mount point is missing or an ordinary directory of the guest. Writes there never
  /// reach the host.
  bool mounted = false;
  /// It can end while the guest runs, without a command in the guest: it is reverse-sshfs.
  bool may_vanish = false;
};

/// Checks that the instance's mounts are present in the guest. Lima mounts with `nofail`, so they
/// may appear late, and a reverse-sshfs mount ends with its SSH connection.
///
/// In a Linux guest, the mount point (links resolved) must have a 9p or virtiofs with Lima's tag
/// (or an older Lima's "mount" and a number), or a fuse.sshfs with any source. In a macOS guest, it
/// must be a link to the directory "/Volumes/My Shared Files/TAG". All mounts pass if the guest has
/// no mount table (logged), or is this machine (a loopback sshd).
///
/// A mount's state is reused while its file system's identity (statvfs) stays the same; a missing
/// mount is checked each time. `mount` is an index in the constructor's `mounts`. Thread-safe.
class MountCheck {
 public:
  /// `os` is the guest's: "Linux", "Darwin", …
  MountCheck(std::vector<lima::Mount> mounts, const std::string& os)
      : mounts_(std::move(mounts)), is_mac_(os == "Darwin"), known_(mounts_.size()) {}
  virtual ~MountCheck() = default;

  /// The request for UpdateFrom; send it in one round trip with the call's other requests.
  [[nodiscard]] guest::Request StatusRequest(std::size_t mount) const;

  /// Returns the state of a mount after a reply to StatusRequest. Reads the mount table if another
  /// file system is there than before. Throws support::Error if it cannot be read.
  virtual MountState UpdateFrom(std::size_t mount, guest::Reply reply, guest::Guest& guest,
                                const support::Context& context);

  /// Sends StatusRequest, and updates from the reply.
  MountState Check(std::size_t mount, guest::Guest& guest, const support::Context& context);

  /// Checks all mounts with one command, and logs the missing ones. Call it once, first.
  void CheckAll(guest::Guest& guest, const support::Context& context);

  /// The last state; "not mounted" before the first check. No round trip.
  [[nodiscard]] virtual MountState LastKnown(std::size_t mount) const;

 private:
  struct Known {
    std::optional<guest::FileSystemStatus> file_system;  ///< if empty, read the table next time
    MountState state;
  };
  /// If empty, every mount passes.
  using Table = std::optional<std::vector<MountLine>>;

  [[nodiscard]] Table ReadTable(guest::Guest& guest, const support::Context& context) const;
  [[nodiscard]] MountState Find(const lima::Mount& mount, const Table& table, guest::Guest& guest,
                                const support::Context& context) const;
  MountState Recheck(std::size_t mount, const guest::Reply& reply, const Table& table,
                     guest::Guest& guest, const support::Context& context);

  const std::vector<lima::Mount> mounts_;
  const bool is_mac_;
  bool is_this_machine_ = false;
  mutable std::mutex mutex_;  // guards known_; not held during requests
  std::vector<Known> known_;
};

}  // namespace paths
