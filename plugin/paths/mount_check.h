#pragma once

#include <cstddef>
#include <utility>

#include "guest/guest.h"
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
    return Judge(mount, std::move(guest.AskAll({Question(mount)}, context).front()), guest,
                 context);
  }

  /// The last judgement; "not mounted" before the first one. No round trip.
  [[nodiscard]] virtual MountState LastKnown(std::size_t mount) const = 0;
};

}  // namespace paths
