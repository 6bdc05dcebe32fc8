// SPDX-License-Identifier: Apache-2.0
#include "connection/closed.h"

#include <sstream>
#include <vector>

#include "connection/programs.h"
#include "lima/boot.h"
#include "lima/sandbox.h"
#include "lima/ssh_config.h"
#include "support/join.h"

namespace connection {
namespace {

/// Lima makes it when all scripts have ended (its boot.sh). sshd answers minutes earlier.
constexpr const char* kBootDone = "/run/lima-boot-done";
/// Before the next login, which takes the guest's time away from its boot.
constexpr int kPauseSeconds = 3;

}  // namespace

void RequireBooted(const lima::InstanceConfiguration& configuration, guest::Guest& guest,
                   const support::Context& context) {
  if (!configuration.closed()) return;
  const std::string script = support::Format(
      "[ -e {} ] || grep -qx '{}' /proc/sys/kernel/random/boot_id || { sleep {}; exit 1; }",
      kBootDone, lima::ThisBoot().id, kPauseSeconds);
  if (guest::CaptureScript(guest, {script}, context).exit_status == 0) return;
  throw StillBooting("the Lima instance \"{}\" is still booting. If it stays so: {}",
                     configuration.name, lima::ForcedRestartCommand(configuration.name));
}

Proof ProveClosed(const lima::InstanceConfiguration& configuration, guest::Guest& guest,
                  const support::Context& context) {
  const int port = lima::ReadSshConfig(configuration.directory(), configuration.name).port;
  const std::string script =
      support::Format("PORT={} BOOT='{}'\n{}", port, lima::ThisBoot().id, open_ways_program);
  const guest::ScriptOutput result = guest::CaptureScript(guest, {script}, context);
  Proof proof;
  std::istringstream lines(result.output);
  std::vector<std::string> open;
  if (result.exit_status != 0) open.push_back("unknown, since trying fails: " + result.error);
  for (std::string line; std::getline(lines, line);) {
    if (line == "this machine") {
      proof.is_this_machine = true;
    } else {
      open.push_back(line);
    }
  }
  proof.open = support::Join(open);
  return proof;
}

}  // namespace connection
