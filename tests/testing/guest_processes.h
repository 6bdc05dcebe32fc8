// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "testing/loopback_instance.h"

namespace testing_support {

struct GuestProcess {
  pid_t pid = 0;
  std::string started;  ///< start time, because ids are reused
  std::string command;  ///< with arguments and environment
};

/// The processes "in the guest" of a loopback instance: the descendants of its sshd, and orphans,
/// which have the instance's $HOME in their environment. Without sshd itself and zombies.
std::vector<GuestProcess> GuestProcesses(const LoopbackInstance& instance);

/// Whether the process whose id is in the file exits within three seconds. Throws
/// std::runtime_error if there is no id.
bool EndsSoon(const std::filesystem::path& file_of_process_id);

/// Whether any process of the group runs. Zombies do not count.
bool GroupLives(long process_group);

/// A line "NAME: value kB" or "NAME: value" of /proc/PID/status; 0 if there is no such file.
long StatusOf(pid_t pid, const std::string& name);

/// The `processes` that are still alive.
std::vector<GuestProcess> StillAlive(const std::vector<GuestProcess>& processes);

/// Stops or continues the virtual machine: sshd and all guest processes.
void Freeze(const LoopbackInstance& instance);
void Thaw(const LoopbackInstance& instance);

/// SIGKILL for sshd and all guest processes.
void KillEverything(const LoopbackInstance& instance);

}  // namespace testing_support
