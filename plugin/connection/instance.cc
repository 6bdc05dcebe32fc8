#include "connection/instance.h"

#include <memory>
#include <optional>
#include <utility>

#include "connection/guest_facts.h"
#include "connection/patient_opener.h"
#include "connection/ssh_endpoint.h"
#include "lima/configuration.h"
#include "lima/host.h"
#include "lima/mounts.h"
#include "lima/ssh_config.h"
#include "lima/status.h"
#include "paths/mount_check.h"
#include "paths/path_rules.h"
#include "ssh/connection.h"
#include "support/errors.h"
#include "support/log.h"

namespace connection {
namespace {

void RequireRunning(const InstanceOptions& options,
                    const lima::InstanceConfiguration& configuration) {
  const lima::Status status = lima::InspectStatus(configuration.directory(), configuration.vm_type);
  switch (status.state) {
    case lima::State::kRunning:
      return;
    case lima::State::kStopped:
      throw InstanceNotRunning("the Lima instance \"" + options.name +
                                   "\" is stopped; start it on the host with: limactl start " +
                                   options.name,
                               status.state);
    case lima::State::kBroken:
      throw InstanceNotRunning(
          "the Lima instance \"" + options.name + "\" is broken (" + status.reason +
              "), or is just starting or stopping. If it stays so, try on the host: limactl stop "
              "--force " +
              options.name + ", then: limactl start " + options.name,
          status.state);
  }
}

ssh::ConnectionOptions ConnectionOptionsOf(const InstanceOptions& options) {
  ssh::ConnectionOptions connection;
  // The first interval ends with a question, each further one with another or with the end.
  connection.keepalive_interval = options.guest_silence / (connection.keepalive_limit + 1);
  return connection;
}

/// The user of the guest is known only once the instance has been started for the first time.
lima::GuestFacts FactsFromFiles(const lima::InstanceConfiguration& configuration) {
  lima::GuestFacts facts;
  try {
    facts.user = lima::ReadSshConfig(configuration.directory(), configuration.name).user;
  } catch (const support::CallError& error) {
    support::LogInfo(error.what());
  }
  return facts;
}

}  // namespace

std::vector<paths::Root> ShownRoots(const InstanceOptions& options,
                                    const lima::InstanceConfiguration& configuration) {
  std::vector<lima::Mount> mounts;
  for (const lima::MountLocation& location :
       lima::ListLocations(configuration, lima::ReadHostFacts(), FactsFromFiles(configuration))) {
    lima::Mount mount;
    mount.location = location.location;
    mount.mount_point = location.mount_point.value_or(location.location);
    mount.writable = location.writable;
    mount.reads_may_be_stale = location.reads_may_be_stale;
    mounts.push_back(std::move(mount));
  }
  return paths::SelectRoots(mounts, options.roots);
}

OpenedConnection OpenInstance(const InstanceOptions& options, paths::PinnedRoots& pins,
                              const support::Context& context) {
  const lima::InstanceConfiguration configuration =
      lima::LoadConfiguration(options.lima_home, options.name);
  const std::string shell = lima::LoginShell(configuration);
  RequireRunning(options, configuration);
  const lima::SshEndpoint endpoint = lima::ReadSshConfig(configuration.directory(), options.name);

  const std::shared_ptr<ssh::Connection> connection =
      ssh::Connection::Open(ToEndpoint(endpoint), ConnectionOptionsOf(options), context);
  const std::shared_ptr<guest::Guest> guest = connection;
  const lima::GuestFacts facts = FindGuestFacts(configuration, endpoint.user, *guest, context);
  const std::vector<lima::Mount> mounts =
      lima::EvaluateMounts(configuration, lima::ReadHostFacts(), facts);

  paths::PathRules::Options paths;
  paths.instance = options.name;
  paths.mounts = paths::RootsOfMounts(mounts);
  paths.mount_check = paths::MakeMountCheck(configuration, mounts, *guest, context);
  paths.roots = paths::SelectRoots(mounts, options.roots);
  paths.pins = pins;
  paths.working_directory = options.working_directory;
  paths.allow_settings = options.allow_settings;

  const auto rules = std::make_shared<const paths::PathRules>(std::move(paths));
  rules->CheckRoots(*guest, context);

  OpenedConnection opened;
  opened.workspace.guest = guest;
  opened.workspace.paths = rules;
  opened.workspace.shell = shell;
  opened.alive = [connection] { return connection->alive(); };
  return opened;
}

}  // namespace connection
