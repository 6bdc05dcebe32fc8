// SPDX-License-Identifier: Apache-2.0
#include "commands/work.h"

#include <ostream>

#include "commands/commands.h"
#include "commands/copied_work.h"
#include "commands/mounted_work.h"
#include "support/environment.h"
#include "support/format.h"

namespace commands {
namespace {

constexpr const char* kLimits =
    "Source code is not judged, and the guest can change more while the VM runs.\n";

}  // namespace

std::unique_ptr<Work> FindWork(const Instance& instance, const std::string& copy_directory) {
  const std::string project = FindProject(support::EnvironmentVariable("HOME")).string();
  const auto mount = copy_directory.empty() ? FindMount(instance, project) : std::nullopt;
  if (!mount) return std::make_unique<CopiedWork>(instance, "", copy_directory);
  return std::make_unique<MountedWork>(instance, *mount, project);
}

std::string NameArgument(const Instance& instance) {
  const std::string& name = instance.configuration.name;
  return name == kAgentInstance ? "" : " " + name;
}

std::string CopyAdvice(const std::string& instance) {
  return support::Format("Work in a copy instead: {}--copy-dir DIR, outside all mounts",
                         instance == kAgentInstance
                             ? ""
                             : support::Format("limactl mcp run AGENT {}, or ", kAgentInstance));
}

bool PrintReport(const exposure::Report& report, const std::string& where, std::ostream& out) {
  if (report.lines.empty()) return false;
  report.Print(out);
  out << where << '\n' << kLimits;
  return true;
}

void PrintNothing(std::ostream& out) {
  out << "Nothing was changed that programs on this host run or obey. " << kLimits;
}

}  // namespace commands
