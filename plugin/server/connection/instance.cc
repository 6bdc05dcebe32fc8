// SPDX-License-Identifier: Apache-2.0
#include "connection/instance.h"

#include <functional>
#include <utility>

#include "connection/closed.h"
#include "lima/home.h"
#include "lima/sandbox.h"
#include "paths/mount_check.h"
#include "paths/path_rules.h"
#include "ssh/connection.h"
#include "support/errors.h"
#include "support/log.h"

namespace connection {
namespace {

using support::Format;

/// Lima may choose another port at each start, and the old one may be another program's then.
void RequirePort(const lima::InstanceConfiguration& configuration,
                 const lima::SshEndpoint& endpoint) {
  int port = 0;
  try {
    port = lima::QueryHostAgent(configuration.directory() / "ha.sock");
  } catch (const support::Error& error) {  // it was stopped meanwhile, or is just starting
    throw InstanceNotRunning(
        Format("the Lima instance \"{}\" is not ready: {}", configuration.name, error.what()),
        lima::State::kBroken);
  }
  if (port == 0 || port == endpoint.port) return;
  throw support::Error(
      "the Lima instance \"{}\" has port {} in ssh.config, but its host agent has port {}. Nothing "
      "was sent; restart the instance: `{}`",
      configuration.name, endpoint.port, port, lima::RestartCommand(configuration.name));
}

lima::SshEndpoint FindEndpoint(const lima::InstanceConfiguration& configuration) {
  RequireRunning(configuration);
  lima::SshEndpoint endpoint = lima::ReadSshConfig(configuration.directory(), configuration.name);
  RequirePort(configuration, endpoint);
  return endpoint;
}

void WarnIfOpen(const lima::InstanceConfiguration& configuration, guest::Guest& guest,
                const support::Context& context) {
  const std::string open = FindOpenWays(configuration, guest, context);
  if (open.empty()) return;
  support::LogWarning(Format("the network of {} is not closed: {}", configuration.name, open));
}

/// A closed guest gets the proxy, at the port that it had before if that is free.
std::shared_ptr<guest::Guest> ConnectWithProxy(const lima::SshEndpoint& endpoint,
                                               const lima::InstanceConfiguration& configuration,
                                               const InstanceOptions& options,
                                               const support::Context& context) {
  if (!configuration.closed() || !options.proxy) return ssh::Connect(endpoint, {}, context);
  ssh::ConnectionOptions closed;
  closed.port = options.proxy->port;
  closed.accept = std::bind_front(&network::Proxy::Serve, options.proxy);
  const std::shared_ptr<guest::Guest> guest = ssh::Connect(endpoint, closed, context);
  const int port = guest->forwarded_port();
  if (port == 0) return guest;
  options.proxy->port = port;
  guest->prelude = network::ExportVariables(port);
  return guest;
}

constexpr const char* kStale =
    ": the guest may not notice when the host changes files here (9p cache), so reads, lists, "
    "searches and commands may show old contents";

constexpr const char* kClosed =
    "The network is closed: only names that the user allows are reached, by https through the "
    "proxy in http_proxy. If a result says that a name was denied, ask the user.\n";

std::string ListRoots(const std::vector<paths::Root>& roots) {
  if (roots.empty()) {
    return "The instance mounts no directory, so the file tools can use none.\n";
  }
  std::string text = "The file tools, and the directory of a command, can use these directories:\n";
  for (const paths::Root& root : roots) {
    text += Format("- {}{}", root.host, root.writable ? " (writable)" : " (read-only)");
    if (root.guest != root.host) text += Format(", which is {} in the guest", root.guest);
    if (root.reads_may_be_stale) text += kStale;
    text += "\n";
  }
  return text;
}

}  // namespace

void RequireRunning(const lima::InstanceConfiguration& configuration) {
  const lima::Status status = lima::InspectStatus(configuration.directory(), configuration.vm_type);
  if (status.state == lima::State::kRunning) return;
  const std::string problem =
      status.state == lima::State::kStopped
          ? Format("stopped; start it on the host with: limactl start {}", configuration.name)
          : Format("broken ({}), or is starting or stopping. If it stays so, run on the host: {}",
                   status.reason, lima::ForcedRestartCommand(configuration.name));
  throw InstanceNotRunning(Format("the Lima instance \"{}\" is {}", configuration.name, problem),
                           status.state);
}

std::vector<paths::Root> ShownRoots(const InstanceOptions& options,
                                    const lima::InstanceConfiguration& configuration) {
  if (options.only_root) return {options.only_root->find()};
  return paths::SelectRoots(lima::ListMounts(configuration), options.roots);
}

std::string Instructions(const InstanceOptions& options) {
  try {
    const lima::InstanceConfiguration configuration =
        lima::LoadConfiguration(options.lima_home, options.name);
    // Codex shows a model only the first line.
    return Format(
        "Files, search and commands in the Lima virtual machine \"{}\" ({}), not on the host: "
        "use these tools for all work on the project.\n{}Give absolute host paths. "
        "Other paths are refused: ask the user to mount the directory. "
        "Commands run as the guest's user and see the guest's own files too.\n{}",
        options.name, configuration.os, ListRoots(ShownRoots(options, configuration)),
        configuration.closed() ? kClosed : "");
  } catch (const support::Error& error) {
    return Format(
        "These tools work inside the Lima virtual machine \"{}\", not on the host. "
        "They cannot be used now: {}\n",
        options.name, error.what());
  }
}

std::shared_ptr<guest::Guest> ConnectGuest(const InstanceOptions& options,
                                           const support::Context& context) {
  const auto configuration = lima::LoadConfiguration(options.lima_home, options.name);
  std::shared_ptr<guest::Guest> guest =
      ConnectWithProxy(FindEndpoint(configuration), configuration, options, context);
  RequireBooted(configuration, *guest, context);
  return guest;
}

tools::Workspace OpenInstance(const InstanceOptions& options,
                              const std::shared_ptr<paths::PinnedRoots>& pins,
                              const support::Context& context) {
  const lima::InstanceConfiguration configuration =
      lima::LoadConfiguration(options.lima_home, options.name);
  const std::string shell = lima::LoginShell(configuration);
  const lima::SshEndpoint endpoint = FindEndpoint(configuration);

  const std::shared_ptr<guest::Guest> guest =
      ConnectWithProxy(endpoint, configuration, options, context);
  if (RequireBooted(configuration, *guest, context)) WarnIfOpen(configuration, *guest, context);
  const std::vector<lima::Mount> mounts = lima::ListMounts(configuration);

  paths::PathRules::Options paths;
  paths.instance = options.name;
  paths.pins = pins;
  paths.working_directory = options.working_directory;
  paths.allow_settings = options.allow_settings;
  paths.host_programs = options.host_programs;
  paths.lima_home = options.lima_home;
  if (options.only_root) {
    const auto use = options.only_root->use(mounts, *guest, context);
    paths.roots = options.roots.allowed_paths;
    paths.roots.push_back(options.only_root->find());
    return {guest, std::make_shared<const paths::PathRules>(std::move(paths)), shell, use};
  }

  paths.mounts = paths::RootsOfMounts(mounts);
  paths.mount_check = std::make_shared<paths::MountCheck>(mounts, configuration.os);
  paths.mount_check->CheckAll(*guest, context);
  paths.roots = paths::SelectRoots(mounts, options.roots);

  const auto rules = std::make_shared<const paths::PathRules>(std::move(paths));
  rules->CheckRoots(*guest, context);

  return {guest, rules, shell};
}

}  // namespace connection
