#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "commands/audit_log.h"
#include "commands/commands.h"
#include "commands/option_parser.h"
#include "commands/termination_watch.h"
#include "connection/instance.h"
#include "connection/instance_opener.h"
#include "connection/instructions.h"
#include "connection/shared_connection.h"
#include "lima/configuration.h"
#include "lima/home.h"
#include "lima/host.h"
#include "lima/mounts.h"
#include "mcp/server.h"
#include "support/join.h"
#include "support/log.h"
#include "support/paths.h"
#include "support/units.h"
#include "support/version.h"
#include "tools/tool_list.h"

namespace commands {
namespace {

using connection::InstanceOptions;
using connection::SharedConnection;

struct ServeOptions {
  InstanceOptions instance;
  bool start = false;  ///< a stopped instance
  tools::ToolOptions tools;
  std::optional<std::string> audit_file;
};

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

ServeOptions ReadOptions(const OptionParser& parser, const cxxopts::ParseResult& parsed) {
  ServeOptions options;
  options.instance.lima_home = lima::HomeDirectory();
  options.instance.name =
      parser.positional().empty() ? kDefaultInstance : parser.positional().front();
  options.instance.working_directory = WorkingDirectory();
  RequireInstance(options.instance);
  if (parsed.count("root") > 0) {
    for (const std::string& value : parsed["root"].as<Strings>()) {
      options.instance.roots.narrowed_roots.push_back(connection::ParseNarrowedRoot(value));
    }
  }
  if (parsed.count("allow-path") > 0) {
    for (const std::string& value : parsed["allow-path"].as<Strings>()) {
      options.instance.roots.allowed_paths.push_back(connection::ParseAllowedPath(value));
    }
  }
  CheckRoots(options.instance);
  options.start = parsed["start"].as<bool>();
  options.instance.guest_silence = ReadGuestSilence(parsed["guest-silence"].as<std::string>());
  options.tools.command_timeout = ReadTimeout(parsed["command-timeout"].as<std::string>());
  options.tools.maximum_output_bytes = ReadMaximumOutput(parsed["max-output"].as<std::string>());
  options.tools.warm_shells = !parsed["no-warm-shells"].as<bool>();
  if (parsed.count("audit") > 0) {
    options.audit_file = parsed["audit"].as<std::string>();
    CheckAuditFile(*options.audit_file, options.instance);
  }
  return options;
}

mcp::ServerOptions MakeServerOptions(const InstanceOptions& instance, SharedConnection& connection,
                                     mcp::CallObserver* observer) {
  mcp::ServerOptions options;
  options.info.name = "lima";
  options.info.version = support::Version();
  options.instructions = [instance] { return connection::Instructions(instance); };
  options.on_first_response = [&connection] { connection.ConnectInBackground(); };
  options.observer = observer;
  return options;
}

}  // namespace

OptionParser ServeParser() {
  const tools::ToolOptions defaults;
  OptionParser parser("serve", "Serve MCP over standard input and output for a Lima instance",
                      "[INSTANCE]", 1);
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
      "program ends")("no-warm-shells",
                      "Start the login shell of each command when it comes, not ahead of it")(
      "audit",
      "Append one line of JSON for every call to FILE: time, tool, arguments with contents "
      "shortened, outcome, duration",
      cxxopts::value<std::string>(), "FILE");
  return parser;
}

int Serve(const std::vector<std::string>& arguments) {
  OptionParser parser = ServeParser();
  const std::optional<cxxopts::ParseResult> parsed = parser.Parse(arguments);
  if (!parsed) return 0;
  const pid_t parent = TerminationWatch::PrepareProcess();
  const ServeOptions options = ReadOptions(parser, *parsed);

  std::optional<AuditLog> audit;
  if (options.audit_file) audit.emplace(*options.audit_file);

  connection::InstanceOpener opener(options.instance, options.start);
  SharedConnection connection(
      [&opener](const support::Context& context, const connection::Tell& tell) {
        return opener.Open(context, tell);
      });
  mcp::Server server(MakeServerOptions(options.instance, connection, audit ? &*audit : nullptr),
                     tools::MakeTools(connection, options.tools));
  const TerminationWatch watch(parent,
                               [&server](support::StopReason reason) { server.Stop(reason); });

  const mcp::Server::Exit exit = server.Serve(STDIN_FILENO, STDOUT_FILENO);
  if (!exit.all_calls_ended) {
    // Destructors would wait for the call that did not end, perhaps for ever.
    support::LogError("a call did not end in time; leaving without it");
    std::_Exit(1);
  }
  return 0;
}

}  // namespace commands
