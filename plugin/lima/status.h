#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace lima {

enum class State { kRunning, kStopped, kBroken };

/// "Running", "Stopped" or "Broken", as limactl prints them.
std::string_view Describe(State state);

struct Status {
  State state = State::kStopped;
  std::string reason;  ///< why it is broken; empty otherwise
};

/// Inspects an instance's directory like `limactl list`:
///   running   the host agent (ha.pid) and the driver (*.pid) live, and ha.sock responds
///   stopped   neither lives
///   broken    anything else, including an unreadable pid file
/// The host agent alone counts for drivers without a pid file of their own: external ones, which
/// have a *.drv.pid, and WSL2.
///
/// `vm_type` is the configured one, if any. Takes about kHostAgentTimeout at most. Unlike limactl,
/// leaves pid files of dead processes alone. Any thread. Rule: Inspect in Lima's
/// pkg/store/instance.go.
Status InspectStatus(const std::filesystem::path& instance_directory,
                     const std::optional<std::string>& vm_type = std::nullopt);

}  // namespace lima
