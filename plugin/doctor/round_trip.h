#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/finding.h"
#include "support/context.h"

namespace doctor {

/// Starts a server by `command` and is its client once, from `initialize` to the end of its input:
/// lists the tools, and where there is a `directory` (a root, by its host name) lists that, and
/// runs `true` there.
Finding CheckRoundTrip(const std::vector<std::string>& command,
                       const std::optional<std::string>& directory,
                       const support::Context& context);

}  // namespace doctor
