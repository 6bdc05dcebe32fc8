#include "connection/instance.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "connection/guest_facts.h"
#include "lima/host.h"
#include "lima/mounts.h"
#include "paths/mount_watch.h"
#include "paths/path_texts.h"
#include "ssh/connection.h"
#include "support/log.h"
#include "support/paths.h"

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
              "), or is starting or stopping. If it stays so, run on the host: limactl stop "
              "--force " +
              options.name + " && limactl start " + options.name,
          status.state);
  }
}

ssh::ConnectionOptions ConnectionOptionsOf(const InstanceOptions& options) {
  ssh::ConnectionOptions connection;
  // The connection is lost after one interval without keep-alives and keepalive_limit with them.
  connection.keepalive_interval = options.guest_silence / (connection.keepalive_limit + 1);
  return connection;
}

/// ssh.config names the guest's user. It is missing until the instance has been started once.
lima::GuestFacts FactsFromFiles(const lima::InstanceConfiguration& configuration) {
  lima::GuestFacts facts;
  try {
    facts.user = lima::ReadSshConfig(configuration.directory(), configuration.name).user;
  } catch (const support::CallError& error) {
    support::LogInfo(error.what());
  }
  return facts;
}

/// While its mount is missing, a `--root` cannot be pinned: it would be a directory beneath the
/// mount point. The next call connects again.
void RequireMounted(const paths::BoundedRoot& bounded, const paths::PathRules::Options& paths,
                    guest::Guest& guest, const support::Context& context) {
  if (!paths.mount_check || bounded.root.guest == bounded.boundary) return;
  paths::MountCheck& check = *paths.mount_check;
  for (std::size_t i = 0; i < paths.mounts.size(); ++i) {
    if (paths.mounts[i].guest != bounded.boundary) continue;
    if (check.LastKnown(i).mounted || check.Ask(i, guest, context).mounted) continue;
    throw support::CallError(
        paths::NotMountedText("--root " + bounded.root.host, paths.mounts[i], paths));
  }
}

std::string RealPath(const std::string& path, const paths::BoundedRoot& bounded,
                     guest::Guest& guest, const support::Context& context) {
  try {
    return guest.RealPath(path, context);
  } catch (const guest::FileError& error) {
    throw support::CallError("--root " + bounded.root.host + " cannot be used: " + error.what() +
                             "; create that directory, or choose another");
  }
}

/// A link in the guest must not widen `--root`: what it resolves to at the first connection must
/// lie in its mount.
void PinInsideBoundary(paths::BoundedRoot& bounded, paths::PinnedRoots& pins, guest::Guest& guest,
                       const support::Context& context) {
  if (bounded.root.guest == bounded.boundary) return;
  const std::optional<std::string> pinned = pins.Find(bounded.root);
  const std::string root = pinned ? *pinned : RealPath(bounded.root.guest, bounded, guest, context);
  const std::string boundary = RealPath(bounded.boundary, bounded, guest, context);
  if (!support::PathBelow(root, boundary)) {
    throw support::CallError("--root " + bounded.root.host + " resolves to " + root +
                             " in the guest, outside the mount " + bounded.boundary +
                             "; choose a directory inside the mount");
  }
  pins.Pin(bounded.root, root);
  bounded.root.pinned = root;
}

/// A guest directory of `--allow-path`. If it does not exist yet, PathRules' `pin` pins it later.
void PinAllowedPath(paths::Root& root, paths::PinnedRoots& pins, guest::Guest& guest,
                    const support::Context& context) {
  try {
    const std::optional<std::string> pinned = pins.Find(root);
    root.pinned = pinned ? *pinned : guest.RealPath(root.guest, context);
    pins.Pin(root, root.pinned);
  } catch (const guest::FileError& error) {
    support::LogInfo(error.what());
  }
}

bool IsAllowedPath(const paths::Root& root, const paths::RootOptions& options) {
  return std::any_of(options.allowed_paths.begin(), options.allowed_paths.end(),
                     [&](const paths::AllowedPath& allowed) {
                       return allowed.directory == root.host && allowed.directory == root.guest;
                     });
}

constexpr const char* kStale =
    ": the guest may not notice when the host changes files here (9p cache). read_file reads past "
    "that; commands, lists and searches may show old contents";

std::string ListRoots(const std::vector<paths::BoundedRoot>& roots) {
  if (roots.empty()) {
    return "The instance mounts no directory, so the file tools can use none.\n";
  }
  std::string text = "The file tools, and the directory of a command, can use these directories:\n";
  for (const auto& [root, boundary] : roots) {
    text += "- " + root.host + (root.writable ? " (writable)" : " (read-only)");
    if (root.guest != root.host) text += ", which is " + root.guest + " in the guest";
    if (root.reads_may_be_stale) text += kStale;
    text += "\n";
  }
  return text;
}

}  // namespace

ssh::Endpoint ToEndpoint(const lima::SshEndpoint& from) {
  return {from.host, from.port, from.user, from.identity_files, from.ciphers};
}

std::vector<paths::BoundedRoot> ShownRoots(const InstanceOptions& options,
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

std::string Instructions(const InstanceOptions& options) {
  try {
    const lima::InstanceConfiguration configuration =
        lima::LoadConfiguration(options.lima_home, options.name);
    return "These tools work inside the Lima virtual machine \"" + options.name + "\" (" +
           configuration.os +
           "), not on the host. Use them instead of your own tools that would touch the host.\n" +
           ListRoots(ShownRoots(options, configuration)) +
           "Give absolute host paths. Other paths are refused: ask the user to mount the "
           "directory. Commands run as the guest's user and see the guest's own files too.\n";
  } catch (const support::CallError& error) {
    return "These tools work inside the Lima virtual machine \"" + options.name +
           "\", not on the host. They cannot be used now: " + error.what() + "\n";
  }
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
  for (paths::BoundedRoot& bounded : paths::SelectRoots(mounts, options.roots)) {
    paths::RequireUncovered(bounded, paths.mounts);
    RequireMounted(bounded, paths, *guest, context);
    PinInsideBoundary(bounded, pins, *guest, context);
    if (IsAllowedPath(bounded.root, options.roots)) {
      PinAllowedPath(bounded.root, pins, *guest, context);
    }
    paths.roots.push_back(std::move(bounded.root));
  }
  paths.pin = [pins, allowed = options.roots](const paths::Root& root,
                                              const std::string& resolved) {
    return IsAllowedPath(root, allowed) ? pins.Pin(root, resolved) : resolved;
  };
  paths.working_directory = options.working_directory;
  paths.allow_settings = options.allow_settings;

  OpenedConnection opened;
  opened.workspace.guest = guest;
  opened.workspace.paths = std::make_shared<const paths::PathRules>(std::move(paths));
  opened.workspace.shell = shell;
  opened.alive = [connection] { return connection->alive(); };
  return opened;
}

}  // namespace connection
