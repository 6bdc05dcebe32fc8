// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

namespace lima {

enum class State { kRunning, kStopped, kBroken };

struct Status {
  State state = State::kStopped;
  std::string reason;  ///< why it is broken; empty otherwise
};

/// Inspects an instance's directory like `limactl list`:
///   running   the host agent (ha.pid) and the driver (*.pid) run, and ha.sock responds
///   stopped   neither runs
///   broken    anything else, including an unreadable pid file
/// A pid file of an earlier boot (IsOfEarlierBoot) names nobody, unless the host agent responds.
/// For external drivers (*.drv.pid) and WSL2, without a pid file, only the host agent is checked.
/// `vm_type` is the configured one, if any. Takes at most about kHostAgentTimeout. Thread-safe.
/// Follows Inspect in Lima's pkg/store/instance.go.
Status InspectStatus(const std::filesystem::path& instance_directory,
                     const std::optional<std::string>& vm_type = std::nullopt);

/// Lima's own timeout for its host agent (pkg/store/instance.go).
inline constexpr std::chrono::seconds kHostAgentTimeout{3};

/// The port of the guest's sshd on this host, or 0 while the agent does not know it yet: GET
/// /v1/info over the Unix socket `socket` (an instance's ha.sock). Throws support::Error if the
/// agent does not respond, or its response is invalid; waits at most about `timeout`. Follows
/// Lima's pkg/hostagent/api/client.
int QueryHostAgent(const std::filesystem::path& socket,
                   std::chrono::milliseconds timeout = kHostAgentTimeout);

}  // namespace lima
