#pragma once

#include <optional>
#include <string>

#include "guest/guest.h"
#include "support/context.h"

namespace paths {

/// Bytes of output that are taken of a script's; nothing asked here has a longer answer.
inline constexpr std::size_t kMaximumAnswer = std::size_t{1} << 20;

struct ScriptAnswer {
  std::string output;  ///< standard output
  /// Empty when the output was longer than kMaximumAnswer, or the guest does not tell it.
  std::optional<int> exit_status;
};

/// Runs a short script in the guest (shell::Shells::RunScript): one round trip.
ScriptAnswer AskScript(guest::Guest& guest, const std::string& script,
                       const support::Context& context);

}  // namespace paths
