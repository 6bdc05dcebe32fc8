// SPDX-License-Identifier: Apache-2.0
#include "commands/work.h"

#include <csignal>

#include "commands/copied_work.h"
#include "commands/mounted_work.h"
#include "support/environment.h"

namespace commands {

std::unique_ptr<Work> FindWork(const Instance& instance, const std::string& copy_directory) {
  const std::string project = FindProject(support::EnvironmentVariable("HOME")).string();
  const auto mount = copy_directory.empty() ? FindMount(instance, project) : std::nullopt;
  if (!mount) return std::make_unique<CopiedWork>(instance, "", copy_directory);
  return std::make_unique<MountedWork>(instance, *mount, project);
}

}  // namespace commands
