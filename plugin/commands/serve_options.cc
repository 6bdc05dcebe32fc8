#include "commands/serve_options.h"

#include <cstdint>
#include <filesystem>
#include <set>
#include <system_error>

#include "agents/agent.h"
#include "commands/commands.h"
#include "exposure/guest_reach.h"
#include "lima/configuration.h"
#include "lima/home.h"
#include "lima/mounts.h"
#include "paths/roots.h"
#include "support/log.h"
#include "support/units.h"

namespace commands {
namespace {

using connection::InstanceOptions;

std::size_t ReadMaximumOutput(const std::string& text) {
  constexpr std::uint64_t kSmallest = tools::kMinOutputLimit;
  constexpr std::uint64_t kLargest = tools::kMaxOutputLimit;
  const auto bytes = support::ParseByteCount(text);
  if (bytes && *bytes >= kSmallest && *bytes <= kLargest) return static_cast<std::size_t>(*bytes);
  throw UsageError("--max-output \"" + text + "\": expected a size from " +
                   support::FormatByteCount(kSmallest) + " to " +
                   support::FormatByteCount(kLargest) + ", such as 256KiB");
}

std::optional<mcp::ResultStyle> ReadResultStyle(const std::string& text) {
  if (text == "auto") return std::nullopt;
  if (text == "structured") return mcp::ResultStyle::kStructured;
  if (text == "text") return mcp::ResultStyle::kText;
  throw UsageError("--results \"" + text + "\": expected auto, structured or text");
}

/// Throws for a --root that lies under no mount, and for an audit file that the agent could change
/// or replace by a link to any file of the host. Files of Lima's that cannot be used only cause a
/// warning: the user may fix them while we serve, and until then each call returns the error.
void CheckAgainstMounts(const ServeOptions& options) {
  const InstanceOptions& instance = options.instance;
  if (instance.roots.narrowed_roots.empty() && !options.audit_file) return;
  try {
    const auto configuration = lima::LoadConfiguration(instance.lima_home, instance.name);
    (void)connection::ShownRoots(instance, configuration);
    if (!options.audit_file) return;
    std::error_code unknown;
    const auto path = std::filesystem::absolute(*options.audit_file, unknown);
    const exposure::GuestReach reach(lima::ListMounts(configuration));
    if (const auto mount = reach.Above(path)) {
      throw UsageError("--audit " + *options.audit_file + " lies in " + *mount +
                       ", which the agent can write; choose a file outside the writable mounts");
    }
  } catch (const lima::ConfigurationError& error) {
    support::LogWarning(error.what());
  }
}

}  // namespace

std::chrono::milliseconds ReadCommandTimeout(const cxxopts::ParseResult& parsed) {
  const auto& text = parsed["command-timeout"].as<std::string>();
  if (const auto time = support::ParseDuration(text)) return *time;
  throw UsageError("--command-timeout \"" + text +
                   "\": expected a time such as 90s, 10m or 1h, or 0 for no limit");
}

ServeOptions ReadServeOptions(const cxxopts::ParseResult& parsed, const std::string& instance) {
  ServeOptions options;
  options.instance.lima_home = lima::HomeDirectory();
  options.instance.name = instance;
  options.tools.instance = instance;
  std::error_code gone;
  options.instance.working_directory = std::filesystem::current_path(gone).string();
  lima::RequireInstance(options.instance.lima_home, instance);
  for (const cxxopts::KeyValue& option : parsed.arguments()) {
    paths::RootOptions& roots = options.instance.roots;
    const std::string& value = option.value();
    if (option.key() == "root") roots.narrowed_roots.push_back(paths::ParseNarrowedRoot(value));
    if (option.key() == "allow-path") roots.allowed_paths.push_back(paths::ParseAllowedPath(value));
  }
  options.instance.host_programs = exposure::HostPrograms(agents::ObeyedFiles());
  options.instance.allow_settings = parsed["allow-settings"].as<bool>();
  options.start = parsed["start"].as<bool>();
  options.tools.command_timeout = ReadCommandTimeout(parsed);
  options.tools.max_output_bytes = ReadMaximumOutput(parsed["max-output"].as<std::string>());
  options.result_style = ReadResultStyle(parsed["results"].as<std::string>());
  if (parsed.count("audit") > 0) options.audit_file = parsed["audit"].as<std::string>();
  CheckAgainstMounts(options);
  return options;
}

void AddServeOptions(OptionParser& parser) {
  const tools::ToolOptions defaults;
  const auto value = [](const std::string& text) {
    return cxxopts::value<std::string>()->default_value(text);
  };
  parser.AddList(
      "root", "Allow only this host directory, which must lie in a mount; may be repeated", "DIR");
  parser.AddList(
      "allow-path",
      "Also allow this directory of the guest, such as /tmp; append :w to allow writing; "
      "may be repeated",
      "DIR[:w]");
  cxxopts::OptionAdder add = parser.AddOptions();
  add("command-timeout", "How long a command may run, such as 90s, 10m or 1h; 0 for no limit",
      value(support::FormatDuration(defaults.command_timeout)), "TIME");
  add("max-output",
      "How much to keep of each output stream of a command and of what a search finds, up to "
      "256KiB",
      value(std::to_string(defaults.max_output_bytes)), "SIZE");
  add("results",
      "How results are sent: structured, text, or auto for text to agents that show it to a model",
      value("auto"), "STYLE");
  add("start",
      "Start a stopped instance in the background, now and whenever a call finds it stopped; a "
      "start in progress continues when this program exits");
  add("allow-settings",
      "Let the file tools write settings of agents and editors, and git's own files, which "
      "programs "
      "on the host obey");
  add("audit",
      "Append a line of JSON to FILE, outside the writable mounts, for every call, and one before "
      "a call that may change something",
      cxxopts::value<std::string>(), "FILE");
}

void AddCopiedProject(OptionParser& parser) {
  parser.AddOptions()("copy",
                      "Serve the copy of this host directory, made by 'limactl mcp copy', and "
                      "nothing else of the host",
                      cxxopts::value<std::string>(), "PROJECT");
}

std::string ReadCopiedProject(const cxxopts::ParseResult& parsed) {
  if (parsed.count("copy") == 0) return "";
  if (parsed.count("root") > 0) throw UsageError("--copy and --root exclude each other");
  return exposure::Resolved(std::filesystem::absolute(parsed["copy"].as<std::string>()));
}

std::vector<std::string> ServeArguments(const cxxopts::ParseResult& parsed) {
  const std::set<std::string> of_run = {"copy-dir", "host-mcp", "mcp", "trust"};
  std::vector<std::string> words;
  for (const cxxopts::KeyValue& option : parsed.arguments()) {
    std::string value = option.value();
    if (of_run.contains(option.key())) continue;
    if (option.key() == "root") value = paths::ParseNarrowedRoot(value).host;
    if (option.key() == "copy") value = ReadCopiedProject(parsed);
    if (option.key() == "audit") value = std::filesystem::absolute(value).string();
    words.push_back("--" + option.key() + "=" + value);
  }
  return words;
}

}  // namespace commands
