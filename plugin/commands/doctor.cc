#include "doctor/doctor.h"

#include <unistd.h>

#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands/commands.h"
#include "commands/option_parser.h"
#include "doctor/report.h"
#include "ssh/library_version.h"
#include "support/environment.h"
#include "support/version.h"

namespace commands {
namespace {

std::string Locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = support::EnvironmentVariable(name);
    if (!value.empty()) return value;
  }
  return "";
}

}  // namespace

OptionParser DoctorParser() {
  OptionParser parser("doctor",
                      "Check everything between an agent and a Lima instance, from limactl to a "
                      "whole round trip, and say what to do about what is wrong. Exit status 1 if "
                      "a check failed",
                      "[INSTANCE]", 1);
  parser.AddOptions()("json", "Print one JSON object instead of lines");
  return parser;
}

int Doctor(const std::vector<std::string>& arguments) {
  OptionParser parser = DoctorParser();
  const std::optional<cxxopts::ParseResult> parsed = parser.Parse(arguments);
  if (!parsed) return 0;
  const bool as_json = (*parsed)["json"].as<bool>();

  doctor::Options options;
  options.instance = parser.positional().empty() ? kDefaultInstance : parser.positional().front();
  options.path = support::EnvironmentVariable("PATH");
  (void)::signal(SIGPIPE, SIG_IGN);  // a program that reads no more is an error of write()

  const doctor::MarkStyle style = doctor::StyleFor(::isatty(STDOUT_FILENO) == 1, Locale());
  if (!as_json) {
    std::cout << "limactl-mcp " << support::Version() << ", libssh " << ssh::LibraryVersion()
              << '\n';
  }
  const auto results = doctor::Examine(options, [&](const doctor::Result& result) {
    if (!as_json) std::cout << doctor::ResultLines(result, style) << std::flush;
  });
  if (as_json) {
    std::cout << doctor::ReportJson(options.instance, results).dump(2) << '\n';
  } else {
    std::cout << doctor::SummaryLine(results);
  }
  return doctor::AnyFailed(results) ? 1 : 0;
}

}  // namespace commands
