// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor.h"

#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "commands/option_parser.h"
#include "commands/project.h"
#include "ssh/connection.h"
#include "support/environment.h"
#include "support/version.h"

namespace commands {

int Doctor(const Parsed& parsed) {
  const bool as_json = parsed["json"].as<bool>();
  const std::string instance = parsed.Positional(0, kDefaultInstance);
  (void)::signal(SIGPIPE, SIG_IGN);  // a program that stops reading is an error of write()

  if (!as_json) {
    std::cout << "limactl-mcp " << support::Version() << ", libssh " << ssh::LibraryVersion()
              << '\n';
  }
  const auto findings = doctor::Examine(instance, support::EnvironmentVariable("PATH"),
                                        ReachOf(instance), [&](const doctor::Finding& finding) {
                                          if (as_json) return;
                                          std::cout << doctor::FindingLines(finding) << std::flush;
                                        });
  if (as_json) {
    std::cout << doctor::ReportJson(instance, findings).dump(2, ' ', true) << '\n';
  } else {
    std::cout << doctor::SummaryLine(findings);
  }
  return doctor::AnyFailed(findings) ? 1 : 0;
}

}  // namespace commands
