// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "guest/guest.h"
#include "lima/configuration.h"
#include "support/context.h"
#include "support/errors.h"

/// Instances whose guest is closed by its own scripts (lima::InstanceConfiguration::closed).
namespace connection {

/// The scripts have not ended, so the network may be open.
class StillBooting : public support::Error {
 public:
  using Error::Error;
};

/// Throws StillBooting unless Lima's scripts have ended. For others than closed instances, and if
/// the guest is this machine, does nothing. At most one round trip.
void RequireBooted(const lima::InstanceConfiguration& configuration, guest::Guest& guest,
                   const support::Context& context);

/// What a script in a closed guest finds.
struct Proof {
  std::string open;              ///< what works but must not: "sudo, a user namespace"
  bool is_this_machine = false;  ///< the guest is, as in tests, and so it is not closed
};

/// Tries to leave the guest, also to the instance's SSH port on this host, which listens. One round
/// trip, and at most five seconds in the guest. Throws what guest::CaptureScript throws.
Proof ProveClosed(const lima::InstanceConfiguration& configuration, guest::Guest& guest,
                  const support::Context& context);

}  // namespace connection
