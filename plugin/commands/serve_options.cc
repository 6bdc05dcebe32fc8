// SPDX-License-Identifier: Apache-2.0
#include "commands/serve_options.h"

#include <unistd.h>

#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "agents/agent.h"
#include "commands/audit_log.h"
#include "commands/commands.h"
#include "commands/project.h"
#include "exposure/guest_reach.h"
#include "lima/configuration.h"
#include "lima/home.h"
#include "lima/mounts.h"
#include "paths/roots.h"
#include "support/errors.h"
#include "support/log.h"
#include "support/units.h"

namespace commands {
namespace {

std::optional<mcp::ResultStyle> ReadResultStyle(const std::string& text) {
  if (text == "auto") return std::nullopt;
  if (text == "structured") return mcp::ResultStyle::kStructured;
  if (text == "text") return mcp::ResultStyle::kText;
  throw support::Error("--results \"{}\": expected auto, structured or text", text);
}

}  // namespace

void CheckOnHost(const ServeOptions& options) {
  const connection::InstanceOptions& instance = options.instance;
  if (instance.roots.narrowed_roots.empty() && !options.audit_file) return;
  std::error_code unknown;
  const auto path = std::filesystem::absolute(options.audit_file.value_or("."), unknown);
  std::optional<std::vector<lima::Mount>> mounts;
  try {
    const auto configuration = lima::LoadConfiguration(instance.lima_home, instance.name);
    mounts = lima::ListMounts(configuration);
  } catch (const support::Error& error) {
    support::LogWarning(error.what());
  }
  if (mounts) {
    (void)paths::SelectRoots(*mounts, instance.roots);
    const auto mount = exposure::GuestReach(*mounts).MountHolding(path);
    if (mount && options.audit_file) {
      throw support::Error(
          "--audit {} lies in {}, which the agent can write; "
          "choose a file outside the writable mounts",
          *options.audit_file, *mount);
    }
  }
  if (!options.audit_file) return;
  const bool exists = std::filesystem::exists(path, unknown);
  const auto written = exists ? path : path.parent_path();
  const bool fits = std::filesystem::is_directory(written, unknown) != exists;
  if (!fits || ::access(written.c_str(), W_OK) != 0) (void)AuditLog(*options.audit_file);  // throws
}

void RequireInstance(const ServeOptions& options) {
  lima::RequireInstance(options.instance.lima_home, options.instance.name);
  CheckOnHost(options);
}

std::chrono::milliseconds ReadCommandTimeout(const Parsed& parsed) {
  const auto& text = parsed["command-timeout"].as<std::string>();
  if (const auto time = support::ParseDuration(text)) return *time;
  throw support::Error(
      "--command-timeout \"{}\": expected a time such as 90s, 10m or 1h, or 0 for no limit", text);
}

ServeOptions ReadServeOptions(const Parsed& parsed, const std::string& instance) {
  ServeOptions options;
  options.instance.lima_home = lima::HomeDirectory();
  options.instance.name = instance;
  options.tools.instance = instance;
  std::error_code gone;
  options.instance.working_directory = std::filesystem::current_path(gone).string();
  for (const cxxopts::KeyValue& option : parsed.arguments()) {
    paths::RootOptions& roots = options.instance.roots;
    const std::string& value = option.value();
    if (option.key() == "root") roots.narrowed_roots.push_back(paths::ParseNarrowedRoot(value));
    if (option.key() == "allow-path") roots.allowed_paths.push_back(paths::ParseAllowedPath(value));
  }
  options.instance.host_programs = paths::HostPrograms(agents::ObeyedFiles());
  options.instance.allow_settings = parsed["allow-settings"].as<bool>();
  options.start = parsed["start"].as<bool>();
  options.tools.command_timeout = ReadCommandTimeout(parsed);
  options.result_style = ReadResultStyle(parsed["results"].as<std::string>());
  if (parsed.count("audit") > 0) options.audit_file = parsed["audit"].as<std::string>();
  return options;
}

copy::Choice ReadCopiedProject(const Parsed& parsed) {
  copy::Choice choice = ReadChoice(parsed);
  if (parsed.count("copy") == 0) {
    if (!choice.name.empty()) throw support::Error("--name needs --copy, the project of the copy");
    return {};
  }
  if (parsed.count("root") > 0) throw support::Error("--copy and --root exclude each other");
  choice.project =
      exposure::ResolvedOnHost(std::filesystem::absolute(parsed["copy"].as<std::string>()));
  return choice;
}

std::vector<std::string> ServeArguments(const Parsed& parsed) {
  std::set<std::string_view> known;
  for (const Option& option : AllOptions(*FindCommand("serve"))) known.insert(option.name);
  std::vector<std::string> words;
  for (const cxxopts::KeyValue& option : parsed.arguments()) {
    std::string value = option.value();
    if (!known.contains(option.key())) continue;
    if (option.key() == "root") value = paths::ParseNarrowedRoot(value).host;
    if (option.key() == "copy") value = ReadCopiedProject(parsed).project;
    if (option.key() == "audit") value = std::filesystem::absolute(value).string();
    words.push_back("--" + option.key() + "=" + value);
  }
  return words;
}

}  // namespace commands
