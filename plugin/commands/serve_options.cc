#include "commands/serve_options.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "commands/commands.h"
#include "commands/instance_mounts.h"
#include "lima/configuration.h"
#include "lima/home.h"
#include "paths/roots.h"
#include "support/join.h"
#include "support/log.h"
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

/// This program's directory on the host; empty when it no longer exists.
std::string WorkingDirectory() {
  std::error_code gone;
  return std::filesystem::current_path(gone).string();
}

void RequireInstance(const InstanceOptions& options) {
  if (lima::InstanceExists(options.lima_home, options.name)) return;
  const std::string known = support::Join(lima::ListInstances(options.lima_home));
  throw UsageError("there is no Lima instance \"" + options.name + "\" in " +
                   options.lima_home.string() +
                   (known.empty() ? "; create it with: limactl start --name " + options.name
                                  : "; the instances are: " + known));
}

/// Throws for a --root that lies under no mount. Files of Lima's that cannot be used only cause a
/// warning: the user may fix them while we serve, and until then each call returns the error.
void CheckRoots(const InstanceOptions& options) {
  if (options.roots.narrowed_roots.empty()) return;
  try {
    (void)connection::ShownRoots(options, lima::LoadConfiguration(options.lima_home, options.name));
  } catch (const lima::ConfigurationError& error) {
    support::LogWarning(error.what());
  }
}

/// The agent could change its records, or put a link there that leads to any file of the host.
void RequireAgentCannotWrite(const std::string& audit_file, const InstanceOptions& options) {
  std::error_code unknown;
  const auto path = std::filesystem::absolute(audit_file, unknown);
  try {
    const WritableMounts mounts(lima::LoadConfiguration(options.lima_home, options.name));
    if (const auto mount = mounts.Above(path)) {
      throw UsageError("--audit " + audit_file + " lies in " + *mount +
                       ", which the agent can write; choose a file outside the writable mounts");
    }
  } catch (const lima::ConfigurationError& error) {
    support::LogWarning(error.what());
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
    RequireAgentCannotWrite(*options.audit_file, options.instance);
  }
  return options;
}

void AddServeOptions(OptionParser& parser) {
  const tools::ToolOptions defaults;
  const auto value = [](const std::string& text) {
    return cxxopts::value<std::string>()->default_value(text);
  };
  cxxopts::OptionAdder add = parser.AddOptions();
  add("root", "Allow only this host directory, which must lie in a mount; may be repeated",
      cxxopts::value<Strings>(), "DIR");
  add("allow-path",
      "Also allow this directory of the guest, such as /tmp; append :w to allow writing; may be "
      "repeated",
      cxxopts::value<Strings>(), "DIR[:w]");
  add("command-timeout", "How long a command may run, such as 90s, 10m or 1h; 0 for no limit",
      value(support::FormatDuration(defaults.command_timeout)), "TIME");
  add("guest-silence", "How long the guest may be silent before the connection counts as lost",
      value(support::FormatDuration(InstanceOptions().guest_silence)), "TIME");
  add("max-output",
      "How much to keep of each output stream of a command and of what a search finds, such as "
      "1MiB",
      value(std::to_string(defaults.maximum_output_bytes)), "SIZE");
  add("start",
      "Start a stopped instance in the background, now and whenever a call finds it stopped; a "
      "start in progress continues when this program exits");
  add("allow-settings",
      "Let the file tools write settings of agents and editors, and git's hooks and configuration, "
      "which programs on the host read");
  add("audit",
      "Append one line of JSON for every call to FILE, outside the writable mounts: time, tool, "
      "shortened arguments, outcome, duration",
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
