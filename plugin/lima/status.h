#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace lima {

enum class State { kRunning, kStopped, kBroken };

/// "Running", "Stopped", "Broken": limactl's words.
std::string_view Describe(State state);

struct Status {
  State state = State::kStopped;
  std::string reason;  ///< why it is broken; empty otherwise
};

/// Looks at an instance's directory as `limactl list` does: the host agent (ha.pid) and the driver
/// (qemu.pid, vz.pid, krunkit.pid, …: every *.pid but ha.pid and *.drv.pid) must name live
/// processes, and the host agent must answer on ha.sock within kHostAgentTimeout. Both alive is
/// running, none stopped, anything else broken, an unreadable pid file too. Drivers that are
/// programs of their own (a *.drv.pid is there), WSL2, and other drivers without a pid file are
/// judged by the host agent alone.
///
/// `vm_type` is the configured one where there is one. Takes kHostAgentTimeout at most. Changes
/// nothing: unlike limactl it leaves pid files of dead processes where they are. Any thread.
/// Rule: Inspect in Lima's pkg/store/instance.go.
Status InspectStatus(const std::filesystem::path& instance_directory,
                     const std::optional<std::string>& vm_type = std::nullopt);

}  // namespace lima
