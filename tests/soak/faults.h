#pragma once

#include <string>

#include "testing/loopback_instance.h"

namespace soak {

/// Does the `number`-th fault to the guest, of which there are a few kinds in turn, and returns its
/// name. The guest works again when it returns.
std::string DoFault(testing_support::LoopbackInstance& instance, int number);

}  // namespace soak
