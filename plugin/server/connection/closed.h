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

/// Throws StillBooting unless the scripts of a closed instance have ended. Returns false if there
/// is nothing to prove: it is another instance, or the guest is this machine, as in tests. At most
/// one round trip.
bool RequireBooted(const lima::InstanceConfiguration& configuration, guest::Guest& guest,
                   const support::Context& context);

/// Tries to leave the guest, also to the instance's SSH port on this host, which listens. Returns
/// what works but must not, such as "sudo, a user namespace"; empty if the guest is closed. One
/// round trip, and at most five seconds in the guest. Throws what guest::CaptureScript throws.
std::string FindOpenWays(const lima::InstanceConfiguration& configuration, guest::Guest& guest,
                         const support::Context& context);

}  // namespace connection
