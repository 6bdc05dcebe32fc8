#pragma once

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
/// External drivers (those with a *.drv.pid) and WSL2 have no pid file of their own, so only the
/// host agent is checked for them.
///
/// `vm_type` is the configured one, if any. Takes at most about kHostAgentTimeout. Unlike limactl,
/// does not remove pid files of dead processes. Thread-safe. Follows Inspect in Lima's
/// pkg/store/instance.go.
Status InspectStatus(const std::filesystem::path& instance_directory,
                     const std::optional<std::string>& vm_type = std::nullopt);

}  // namespace lima
