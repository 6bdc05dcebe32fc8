#pragma once

#include <cstddef>
#include <utility>

#include "guest/guest.h"
#include "support/context.h"

namespace paths {

/// What the guest says of one of the instance's mounts.
struct MountState {
  /// False: there is only an ordinary directory of the guest, or nothing. What is written there
  /// never reaches the host.
  bool mounted = true;
  /// The guest's cache never asks the host again: contents, sizes and times may be old.
  bool reads_may_be_stale = false;
};

/// Asks the guest whether mounts are there: they may be missing after the start, vanish, and come
/// back at any time. Thread-safe.
class MountCheck {
 public:
  virtual ~MountCheck() = default;

  /// What to ask the guest for Judge, in one burst with whatever else is wanted. `mount` is the
  /// place in PathRules::Options::mounts.
  [[nodiscard]] virtual guest::Request Question(std::size_t mount) const = 0;

  /// What the reply to Question means. No round trip where it is what it was at the last time; see
  /// the implementation for others. Throws support::CallError when the guest cannot tell.
  virtual MountState Judge(std::size_t mount, guest::Reply reply, guest::Guest& guest,
                           const support::Context& context) = 0;

  /// Both, by themselves.
  MountState Ask(std::size_t mount, guest::Guest& guest, const support::Context& context) {
    return Judge(mount, std::move(guest.AskAll({Question(mount)}, context).front()), guest,
                 context);
  }

  /// What was last said of it, not mounted where nothing was; no round trip.
  [[nodiscard]] virtual MountState LastKnown(std::size_t mount) const = 0;
};

}  // namespace paths
