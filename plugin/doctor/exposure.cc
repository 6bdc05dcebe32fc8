#include "doctor/exposure.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "agents/agent.h"
#include "lima/sandbox.h"
#include "paths/guest_reach.h"
#include "support/join.h"
#include "support/paths.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;
using paths::GuestReach;

/// Below the home directory, besides the logins of agents.
constexpr std::string_view kCredentials =
    ".aws .azure .config/gcloud .config/gh .docker .git-credentials .gnupg .kube .netrc .ssh";

/// The user's secrets that the guest can read.
std::set<std::string> ReadableSecrets(const std::vector<lima::Mount>& mounts,
                                      const support::Environment& environment) {
  const GuestReach reach(mounts, GuestReach::Access::kReading);
  const std::string home = support::Value(environment, "HOME");
  if (reach.Above(home)) return {"your home directory, with your keys and logins"};
  std::set<std::string> paths;
  for (const std::string_view name : support::Words(kCredentials)) {
    paths.insert(support::JoinPath(home, name));
  }
  for (const agents::Agent& agent : agents::Agents()) {
    if (!agent.run) continue;
    for (const agents::OwnPath& own : agent.run->own_settings) paths.insert(own.In(environment));
  }
  std::erase_if(paths, [&](const std::string& path) {
    std::error_code unknown;
    return !fs::exists(path, unknown) || !reach.Touching(path);
  });
  return paths;
}

}  // namespace

Exposure FindExposure(const lima::InstanceConfiguration& configuration,
                      const std::vector<lima::Mount>& mounts, const std::string& project,
                      const support::Environment& environment) {
  Exposure exposure;
  if (!mounts.empty() && mounts.front().type == "reverse-sshfs") {
    exposure.escape =
        "the instance mounts with reverse-sshfs, whose server on this host is not confined to "
        "the mounts: root in the guest can reach all your files. Change mountType to 9p or "
        "virtiofs: " +
        lima::EditCommands(configuration.name);
  }
  const std::set<std::string> secrets = ReadableSecrets(mounts, environment);
  if (!secrets.empty()) {
    exposure.rest.push_back("the guest can read " +
                            support::Join({secrets.begin(), secrets.end()}));
  }
  for (const lima::Mount& mount : mounts) {
    const auto rest = support::PathBelow(project, paths::Resolved(mount.location));
    if (mount.writable && rest && !rest->empty()) {
      exposure.rest.push_back("the guest can write " + mount.location +
                              ", which is more than the project");
    }
  }
  if (configuration.forwards_agent) {
    exposure.rest.emplace_back("the guest can use your SSH agent (forwardAgent)");
  }
  if (configuration.forwards_ports) {
    exposure.rest.emplace_back("ports of the guest are forwarded to this host (portForwards)");
  }
  return exposure;
}

Finding CheckExposure(const Exposure& exposure) {
  if (!exposure.escape.empty()) return Warning(exposure.escape, lima::SandboxCommand("sandbox"));
  if (exposure.rest.empty()) return Passed("nothing of this host but the mounts");
  return Warning(support::Join(exposure.rest, "; "),
                 "make an instance for the project alone: " + lima::SandboxCommand("sandbox"));
}

}  // namespace doctor
