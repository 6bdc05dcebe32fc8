#pragma once

#include <string>

#include "guest/guest.h"
#include "lima/configuration.h"
#include "lima/mounts.h"
#include "support/context.h"

namespace connection {

/// The guest user's home directory and uid: one round trip. Only the guest knows them if the
/// configuration does not say, because Lima's default home depends on the version that created the
/// instance. Throws support::CallError if the answer is invalid.
lima::GuestFacts AskGuestFacts(guest::Guest& guest, const support::Context& context);

/// What EvaluateMounts needs to know of the guest; the guest is queried only for what the
/// configuration does not say. `user` is the one in ssh.config. Throws like AskGuestFacts.
lima::GuestFacts FindGuestFacts(const lima::InstanceConfiguration& configuration,
                                const std::string& user, guest::Guest& guest,
                                const support::Context& context);

}  // namespace connection
