#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "guest/guest.h"
#include "lima/mounts.h"
#include "paths/mount_table.h"
#include "support/context.h"

namespace paths {

struct MountState {
  /// False: the mount point is an ordinary directory of the guest, or missing. What is written
  /// there never reaches the host.
  bool mounted = false;
  /// The guest's cache never asks the host again: contents, sizes and times may be old.
  bool reads_may_be_stale = false;
};

/// Whether the instance's mounts are there in the guest. Lima mounts with `nofail`, and
/// reverse-sshfs mounts end with their SSH connection, so they may come and go at any time.
///
/// In a Linux guest, a mount is there if a file system begins at its mount point (links resolved)
/// that Lima would have mounted:
///   9p, virtiofs   with Lima's tag, or an older Lima's "mount" and a number
///   fuse.sshfs     with any source; its form depends on the version of sshfs
/// In a macOS guest, the mount point is a link to the directory "/Volumes/My Shared Files/TAG".
/// Every mount passes if the guest has no mount table (logged), or is this very machine (a loopback
/// sshd).
///
/// A command reads the mount table. It is not read again while the file system's identity (statvfs)
/// stays the same. A missing mount is looked for each time.
///
/// Mounts are numbered as in the constructor. Thread-safe.
class MountCheck {
 public:
  /// `os` is the guest's: "Linux", "Darwin", …
  MountCheck(std::vector<lima::Mount> mounts, const std::string& os)
      : mounts_(std::move(mounts)), is_mac_(os == "Darwin"), known_(mounts_.size()) {}
  virtual ~MountCheck() = default;

  /// The request for Evaluate; send it in one burst with the call's other requests.
  [[nodiscard]] guest::Request StatusRequest(std::size_t mount) const;

  /// The state of a mount, from the reply to StatusRequest. Throws support::CallError if the mount
  /// table cannot be read.
  virtual MountState Evaluate(std::size_t mount, guest::Reply reply, guest::Guest& guest,
                              const support::Context& context);

  /// StatusRequest and Evaluate.
  MountState Check(std::size_t mount, guest::Guest& guest, const support::Context& context);

  /// Checks all mounts by one command, and logs which are missing. Call it once, before the others.
  void CheckAll(guest::Guest& guest, const support::Context& context);

  /// The last state; "not mounted" before the first check. No round trip.
  [[nodiscard]] virtual MountState LastKnown(std::size_t mount) const;

 private:
  struct Known {
    std::optional<guest::FileSystemStatus> file_system;  ///< empty: read the table next time
    MountState state;
  };
  /// Empty: every mount passes.
  using Table = std::optional<std::vector<MountLine>>;

  [[nodiscard]] Table ReadTable(guest::Guest& guest, const support::Context& context) const;
  [[nodiscard]] MountState Find(const lima::Mount& mount, const Table& table, guest::Guest& guest,
                                const support::Context& context) const;
  MountState Update(std::size_t mount, const guest::Reply& reply, const Table& table,
                    guest::Guest& guest, const support::Context& context);

  const std::vector<lima::Mount> mounts_;
  const bool is_mac_;
  bool is_this_machine_ = false;
  mutable std::mutex mutex_;  // guards known_; not held during requests
  std::vector<Known> known_;
};

/// Identifies this boot of this machine.
inline constexpr const char* kBootIdFile = "/proc/sys/kernel/random/boot_id";

}  // namespace paths
