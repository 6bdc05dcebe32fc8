#pragma once

#include <string>

#include "guest/guest.h"
#include "lima/configuration.h"
#include "lima/mounts.h"
#include "support/context.h"

namespace connection {

/// Asks the guest for its user's home directory and uid: one round trip. Only the guest knows them
/// where the configuration does not say, because Lima's default home depends on the version that
/// made the instance. Throws support::CallError when the answer makes no sense.
lima::GuestFacts AskGuestFacts(guest::Guest& guest, const support::Context& context);

/// What EvaluateMounts wants to know of the guest, asking it only where the configuration does not
/// say. `user` is the one in ssh.config. Throws like AskGuestFacts.
lima::GuestFacts FindGuestFacts(const lima::InstanceConfiguration& configuration,
                                const std::string& user, guest::Guest& guest,
                                const support::Context& context);

}  // namespace connection
