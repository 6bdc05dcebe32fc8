#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "testing/loopback_instance.h"

namespace testing_support {

struct GuestProcess {
  pid_t pid = 0;
  std::string started;  ///< when, to tell it from a later one with its number
  std::string command;  ///< its arguments and environment
};

/// What runs "in the guest" of a loopback instance: all that was started by its sessions (known by
/// the instance's own $HOME in their environment, so that an orphan is found too) and all
/// descendants of its sshd. Not sshd itself, no process that only waits to be reaped.
std::vector<GuestProcess> GuestProcesses(const LoopbackInstance& instance);

/// Whether the process whose id the file holds is gone within three seconds, or only waits to be
/// reaped. Throws std::runtime_error where the file holds none.
bool EndsSoon(const std::filesystem::path& file_of_process_id);

/// Those of `processes` that still live.
std::vector<GuestProcess> StillAlive(const std::vector<GuestProcess>& processes);

/// The virtual machine stops as a whole and goes on as a whole: sshd and all guest processes.
void Freeze(const LoopbackInstance& instance);
void Thaw(const LoopbackInstance& instance);

/// SIGKILL for sshd and all guest processes, as when the power goes.
void KillEverything(const LoopbackInstance& instance);

}  // namespace testing_support
