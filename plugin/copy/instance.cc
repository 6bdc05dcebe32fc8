// SPDX-License-Identifier: Apache-2.0
#include "copy/instance.h"

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "connection/instance_opener.h"
#include "connection/shared_connection.h"
#include "lima/home.h"
#include "lima/sandbox.h"
#include "support/environment.h"
#include "support/errors.h"

namespace copy {

using support::Format;

void Instance::RequireOutOfReach(const std::filesystem::path& file) const {
  const auto mount = reach.MountHolding(file);
  if (!mount) return;
  throw support::Error("the guest can write {}, which holds {}; use an instance without that mount",
                       *mount, file.string());
}

std::string Instance::Argument() const {
  return configuration.name == lima::kAgentInstance ? "" : " " + configuration.name;
}

std::string Instance::CopyAdvice() const {
  return Format(
      "Work in a copy instead: {}--copy-dir DIR, outside all mounts",
      Argument().empty() ? "" : Format("limactl mcp run AGENT {}, or ", lima::kAgentInstance));
}

Instance LoadInstance(const std::string& name, paths::HostPrograms programs, bool mountless) {
  const auto lima_home = lima::HomeDirectory();
  lima::RequireInstance(lima_home, name, mountless);
  Instance instance{lima::LoadConfiguration(lima_home, name), {}, {}, std::move(programs)};
  instance.mounts = lima::ListMounts(instance.configuration);
  instance.reach = exposure::GuestReach(instance.mounts);
  return instance;
}

void UseSafeSearchPath(const exposure::GuestReach& reach) {
  ::setenv("PATH", reach.SafeSearchPath(support::EnvironmentVariable("PATH")).c_str(), 1);
}

void UseSafeSearchPathOfLima(const exposure::GuestReach& reach) {
  (void)reach.FindProgram("limactl", support::EnvironmentVariable("PATH"));
  UseSafeSearchPath(reach);
}

bool IsStopped(const Instance& instance) {
  constexpr std::chrono::milliseconds kPause{100};
  const auto give_up = support::Clock::now() + connection::RetryTimes().broken;
  while (true) {
    try {
      connection::RequireRunning(instance.configuration);
      return false;
    } catch (const connection::InstanceNotRunning& problem) {
      if (problem.state() == lima::State::kStopped) return true;
      if (support::Clock::now() >= give_up) throw;
    }
    support::Pause(kPause, {});
  }
}

void Start(const Instance& instance) {
  UseSafeSearchPathOfLima(instance.reach);
  connection::StartInstance(instance.configuration.name, {}, [](const std::string& text) {
    std::cerr << Format("{}, which may take a minute...\n", text);
  });
}

}  // namespace copy
