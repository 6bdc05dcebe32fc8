#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "guest/guest.h"
#include "lima/configuration.h"
#include "lima/mounts.h"
#include "support/context.h"

namespace paths {

struct MountState {
  /// False: the mount point is an ordinary directory of the guest, or missing. What is written
  /// there never reaches the host.
  bool mounted = true;
  /// The guest's cache never asks the host again: contents, sizes and times may be old.
  bool reads_may_be_stale = false;
};

/// Whether mounts are there in the guest. Lima mounts with `nofail`, and reverse-sshfs mounts end
/// with their SSH connection, so they may come and go at any time. Mounts are numbered as in
/// PathRules::Options::mounts. Thread-safe.
class MountCheck {
 public:
  virtual ~MountCheck() = default;

  /// What Judge needs to know; send it in one burst with the call's other requests.
  [[nodiscard]] virtual guest::Request Question(std::size_t mount) const = 0;

  /// Judges the reply to Question. No round trip while the reply stays the same. Throws
  /// support::CallError if the guest cannot answer.
  virtual MountState Judge(std::size_t mount, guest::Reply reply, guest::Guest& guest,
                           const support::Context& context) = 0;

  /// Question and Judge.
  MountState Ask(std::size_t mount, guest::Guest& guest, const support::Context& context) {
    return Judge(mount, std::move(guest.RoundTrip({Question(mount)}, context).front()), guest,
                 context);
  }

  /// The last judgement; "not mounted" before the first one. No round trip.
  [[nodiscard]] virtual MountState LastKnown(std::size_t mount) const = 0;
};

/// Checks the mounts of a Linux guest. A mount is there if a file system begins at its mount point
/// (links resolved) that Lima would have mounted:
///   9p, virtiofs   with Lima's tag, or an older Lima's "mount" and a number
///   fuse.sshfs     with any source; its form depends on the version of sshfs
///
/// Question asks for the file system's identity (statvfs). While that is unchanged, so is the
/// mount. Otherwise, and always while the mount is missing, a command reads the mount table.
class MountWatch final : public MountCheck {
 public:
  struct Expected {
    std::string mount_point;  ///< absolute and clean; may contain links
    std::string tag;          ///< see lima::MountTag
  };

  /// If the guest is this very machine (a loopback sshd), nothing is mounted there: the same is
  /// asked, so that a call costs the same, and every mount passes.
  explicit MountWatch(std::vector<Expected> mounts, bool is_this_machine = false)
      : mounts_(std::move(mounts)), is_this_machine_(is_this_machine), known_(mounts_.size()) {}

  [[nodiscard]] guest::Request Question(std::size_t mount) const override;
  MountState Judge(std::size_t mount, guest::Reply reply, guest::Guest& guest,
                   const support::Context& context) override;
  [[nodiscard]] MountState LastKnown(std::size_t mount) const override;

 private:
  struct Known {
    std::optional<guest::FileSystemStatus> file_system;  ///< empty: read the table next time
    MountState state{.mounted = false, .reads_may_be_stale = false};
  };

  const std::vector<Expected> mounts_;
  const bool is_this_machine_;
  mutable std::mutex mutex_;  // guards known_; not held during requests
  std::vector<Known> known_;
};

/// Identifies this boot of this machine.
inline constexpr const char* kBootIdFile = "/proc/sys/kernel/random/boot_id";

/// The check for a new connection, with the state of all mounts known and the missing ones logged.
/// Null if nothing can be checked: there are no mounts, or (logged) the guest has no mount table.
std::shared_ptr<MountCheck> MakeMountCheck(const lima::InstanceConfiguration& configuration,
                                           const std::vector<lima::Mount>& mounts,
                                           guest::Guest& guest, const support::Context& context);

}  // namespace paths
