#pragma once

#include "support/context.h"

namespace connection {

/// Waits for `duration`, which a stop cuts short. Throws support::Stopped when the context is
/// stopped or its deadline passes first.
void Pause(support::Clock::duration duration, const support::Context& context);

}  // namespace connection
