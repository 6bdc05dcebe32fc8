#pragma once

#include <chrono>
#include <string>

#include "doctor/finding.h"
#include "guest/guest.h"
#include "support/context.h"

/// What a connected guest can do.
namespace doctor {

/// From here on a login shell counts as slow: each command of the agent waits for it.
inline constexpr std::chrono::milliseconds kSlowShell{3000};

/// `guest` must not stand in for a missing file server.
Finding CheckSftp(guest::Guest& guest, const support::Context& context);

/// Runs `true` in the login shell (lima::LoginShell) as run_shell_command does. What its start-up
/// files print would be part of every command's output.
Finding CheckShell(guest::Guest& guest, const std::string& shell, const support::Context& context);

Finding CheckGit(guest::Guest& guest, const support::Context& context);

/// Whether there is a find(1) that lists directories in one round trip.
Finding CheckFind(guest::Guest& guest, const support::Context& context);

}  // namespace doctor
