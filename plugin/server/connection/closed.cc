// SPDX-License-Identifier: Apache-2.0
#include "connection/closed.h"

#include "connection/programs.h"
#include "lima/boot.h"
#include "lima/sandbox.h"
#include "lima/ssh_config.h"
#include "support/join.h"
#include "support/words.h"

namespace connection {
namespace {

/// Lima makes it when all scripts have ended (its boot.sh). sshd answers minutes earlier.
constexpr const char* kBootDone = "/run/lima-boot-done";
/// Before the next login, which takes the guest's time away from its boot.
constexpr int kPauseSeconds = 3;
constexpr int kIsThisMachine = 75;  // exit status

}  // namespace

bool RequireBooted(const lima::InstanceConfiguration& configuration, guest::Guest& guest,
                   const support::Context& context) {
  if (!configuration.closed()) return false;
  const std::string script = support::Format(
      "! grep -qx '{}' /proc/sys/kernel/random/boot_id || exit {}\n"
      "[ -e {} ] || { sleep {}; exit 1; }",
      lima::ThisBoot().id, kIsThisMachine, kBootDone, kPauseSeconds);
  const auto status = guest::CaptureScript(guest, {script}, context).exit_status;
  if (status == 0 || status == kIsThisMachine) return status == 0;
  throw StillBooting("the Lima instance \"{}\" is still booting. If it stays so: {}",
                     configuration.name, lima::ForcedRestartCommand(configuration.name));
}

std::string FindOpenWays(const lima::InstanceConfiguration& configuration, guest::Guest& guest,
                         const support::Context& context) {
  const int port = lima::ReadSshConfig(configuration.directory(), configuration.name).port;
  const std::string script = support::Format("PORT={}\n{}", port, open_ways_program);
  const guest::ScriptOutput result = guest::CaptureScript(guest, {script}, context);
  if (result.exit_status != 0) return "unknown, since trying fails: " + result.error;
  return support::Join(support::Split(result.output, '\n'));
}

}  // namespace connection
