#include "commands/serve_options.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "commands/commands.h"
#include "lima/configuration.h"
#include "lima/home.h"
#include "lima/host.h"
#include "lima/mounts.h"
#include "paths/roots.h"
#include "support/join.h"
#include "support/log.h"
#include "support/paths.h"
#include "support/units.h"

namespace commands {
namespace {

using connection::InstanceOptions;
using std::string_view_literals::operator""sv;
using Strings = std::vector<std::string>;

std::chrono::milliseconds ReadTimeout(const std::string& text) {
  const auto timeout = support::ParseDuration(text);
  if (!timeout) {
    throw UsageError("--command-timeout \"" + text +
                     "\": expected a time such as 90s, 10m or 1h, or 0 for no limit");
  }
  return *timeout;
}

std::chrono::milliseconds ReadGuestSilence(const std::string& text) {
  const auto silence = support::ParseDuration(text);
  if (!silence || *silence < connection::kShortestGuestSilence) {
    throw UsageError("--guest-silence \"" + text + "\": expected a time of at least " +
                     support::FormatDuration(connection::kShortestGuestSilence) +
                     ", such as 30s or 2m");
  }
  return *silence;
}

std::size_t ReadMaximumOutput(const std::string& text) {
  const auto bytes = support::ParseByteCount(text);
  if (!bytes || *bytes < tools::kSmallestMaximumOutput || *bytes > tools::kLargestMaximumOutput) {
    throw UsageError("--max-output \"" + text + "\": expected a size from " +
                     support::FormatByteCount(tools::kSmallestMaximumOutput) + " to " +
                     support::FormatByteCount(tools::kLargestMaximumOutput) + ", such as 256KiB");
  }
  return static_cast<std::size_t>(*bytes);
}

/// Where the user is, on the host; empty when that directory is gone.
std::string WorkingDirectory() {
  std::error_code gone;
  return std::filesystem::current_path(gone).string();
}

void RequireInstance(const InstanceOptions& options) {
  if (lima::InstanceExists(options.lima_home, options.name)) return;
  const std::string known = support::Join(lima::ListInstances(options.lima_home));
  throw UsageError(
      "there is no Lima instance \"" + options.name + "\" in " + options.lima_home.string() +
      (known.empty() ? "; it holds none at all; make it with: limactl start --name " + options.name
                     : "; there are: " + known));
}

/// A --root that lies under no mount is a mistake on the command line. Files of Lima's that cannot
/// be used are not: they may be mended while we serve, and until then each call says what is wrong.
void CheckRoots(const InstanceOptions& options) {
  if (options.roots.narrowed_roots.empty()) return;
  try {
    (void)connection::ShownRoots(options, lima::LoadConfiguration(options.lima_home, options.name));
  } catch (const lima::ConfigurationError& error) {
    support::LogWarning(error.what());
  }
}

/// In a writable mount the agent may have put a link in the file's place: records, whose words are
/// its own, would go into any file of the host's.
void CheckAuditFile(const std::string& file, const InstanceOptions& options) {
  namespace fs = std::filesystem;
  try {
    std::error_code unknown;  // then it is not there, or cannot be opened either
    const std::string written = support::CleanPath(fs::absolute(file, unknown).string());
    const std::string led = fs::weakly_canonical(written, unknown).string();
    const bool is_link = fs::is_symlink(fs::symlink_status(written, unknown));
    const auto configuration = lima::LoadConfiguration(options.lima_home, options.name);
    const auto mounts = lima::ListLocations(configuration, lima::ReadHostFacts(), {});
    for (const lima::MountLocation& mount : mounts) {
      std::string location = fs::weakly_canonical(mount.location, unknown).string();
      if (unknown) location = mount.location;
      const bool lies_there = support::PathBelow(written, mount.location).has_value() ||
                              support::PathBelow(written, location).has_value();
      if (!mount.writable || !lies_there) continue;
      if (!is_link && support::PathBelow(led, location)) continue;
      throw UsageError("--audit " + file +
                       ": a link leads there, which the agent may have put in " + mount.location +
                       "; choose a file that it cannot write");
    }
  } catch (const lima::ConfigurationError& error) {
    support::LogInfo(error.what());  // each call will say so, too
  }
}

}  // namespace

ServeOptions ReadServeOptions(const cxxopts::ParseResult& parsed, const std::string& instance) {
  ServeOptions options;
  options.instance.lima_home = lima::HomeDirectory();
  options.instance.name = instance;
  options.instance.working_directory = WorkingDirectory();
  RequireInstance(options.instance);
  if (parsed.count("root") > 0) {
    for (const std::string& value : parsed["root"].as<Strings>()) {
      options.instance.roots.narrowed_roots.push_back(paths::ParseNarrowedRoot(value));
    }
  }
  if (parsed.count("allow-path") > 0) {
    for (const std::string& value : parsed["allow-path"].as<Strings>()) {
      options.instance.roots.allowed_paths.push_back(paths::ParseAllowedPath(value));
    }
  }
  CheckRoots(options.instance);
  options.instance.allow_settings = parsed["allow-settings"].as<bool>();
  options.start = parsed["start"].as<bool>();
  options.instance.guest_silence = ReadGuestSilence(parsed["guest-silence"].as<std::string>());
  options.tools.command_timeout = ReadTimeout(parsed["command-timeout"].as<std::string>());
  options.tools.maximum_output_bytes = ReadMaximumOutput(parsed["max-output"].as<std::string>());
  if (parsed.count("audit") > 0) {
    options.audit_file = parsed["audit"].as<std::string>();
    CheckAuditFile(*options.audit_file, options.instance);
  }
  return options;
}

void AddServeOptions(OptionParser& parser) {
  const tools::ToolOptions defaults;
  parser.AddOptions()("root", "Only this host directory, which must lie under a mount; repeatable",
                      cxxopts::value<Strings>(), "DIR")(
      "allow-path",
      "Also this directory of the guest, such as /tmp; with :w also for writing; repeatable",
      cxxopts::value<Strings>(), "DIR[:w]")(
      "command-timeout", "How long a command may run, such as 90s, 10m, 1h; 0 for no limit",
      cxxopts::value<std::string>()->default_value(
          support::FormatDuration(defaults.command_timeout)),
      "TIME")("guest-silence",
              "How long the guest may give no sign of life before the connection counts as lost",
              cxxopts::value<std::string>()->default_value(
                  support::FormatDuration(InstanceOptions().guest_silence)),
              "TIME")(
      "max-output",
      "How much is kept of each output stream of a command, and of what a search finds, such as "
      "1MiB",
      cxxopts::value<std::string>()->default_value(std::to_string(defaults.maximum_output_bytes)),
      "SIZE")(
      "start",
      "Start the instance with limactl start when it is stopped, in the background: at once "
      "and whenever a call finds it stopped. A start that has begun goes on when this "
      "program ends")(
      "allow-settings",
      "Let the file tools write settings of agents and editors, and hooks and configuration of "
      "git, "
      "which programs on the host read")(
      "audit",
      "Append one line of JSON for every call to FILE: time, tool, arguments with contents "
      "shortened, outcome, duration",
      cxxopts::value<std::string>(), "FILE");
}

std::vector<std::string> ServeArguments(const cxxopts::ParseResult& parsed) {
  constexpr std::array kFlags = {"allow-settings"sv, "start"sv};
  constexpr std::array kValues = {"allow-path"sv,    "audit"sv,      "command-timeout"sv,
                                  "guest-silence"sv, "max-output"sv, "root"sv};
  const auto is_one_of = [](const auto& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<std::string> words;
  for (const cxxopts::KeyValue& option : parsed.arguments()) {
    const std::string& name = option.key();
    if (is_one_of(kFlags, name) && option.value() == "true") words.push_back("--" + name);
    if (!is_one_of(kValues, name)) continue;
    std::string value = option.value();
    if (name == "root") value = paths::ParseNarrowedRoot(value).directory;
    if (name == "audit") value = std::filesystem::absolute(value).string();
    words.push_back("--" + name);
    words.push_back(std::move(value));
  }
  return words;
}

}  // namespace commands
