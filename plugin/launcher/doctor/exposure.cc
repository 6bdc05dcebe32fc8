// SPDX-License-Identifier: Apache-2.0
#include "doctor/exposure.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "agents/agent.h"
#include "exposure/guest_reach.h"
#include "lima/sandbox.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/join.h"
#include "support/paths.h"
#include "support/words.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;
using exposure::GuestReach;
using lima::InstanceConfiguration;
using support::Format;
using support::Join;

/// Below the home directory, besides the logins of agents.
constexpr std::string_view kCredentials =
    ".aws .azure .config/gcloud .config/gh .docker .git-credentials .gnupg .kube .netrc .ssh";

/// The user's secrets that the guest can read.
std::set<std::string> ReadableSecrets(const Mounts& mounts,
                                      const support::Environment& environment) {
  const GuestReach reach(mounts, GuestReach::Access::kReading);
  const std::string home = support::Value(environment, "HOME");
  if (reach.MountHolding(home)) return {"your home directory, with your keys and logins"};
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
    return !fs::exists(path, unknown) || !reach.MountHoldingOrBelow(path);
  });
  return paths;
}

std::string FindEscape(const InstanceConfiguration& configuration, const Mounts& mounts) {
  const lima::SharedParts& shared = configuration.shared;
  if (!shared.block_devices.empty()) {
    return Format(
        "the guest can read and write disks of this host: {} ({}). Stop the instance and remove "
        "that",
        Join(shared.block_devices), shared.block_devices_where);
  }
  if (mounts.empty() || mounts.front().type != "reverse-sshfs") return "";
  return Format(
      "the instance mounts with reverse-sshfs, whose server on this host is not confined to "
      "the mounts: root in the guest can reach all your files. Change mountType to 9p or "
      "virtiofs: {}",
      lima::EditCommands(configuration.name));
}

/// Names are those of Lima's networks.yaml, where the user may define others.
std::string WhoReachesGuest(const std::string& network) {
  if (network == "bridged") return "your LAN";
  if (network == "shared" || network == "host") return "other guests and this host";
  if (network == "user-v2") return "other guests";
  return "other guests, this host or your LAN";
}

void AddSharedParts(const lima::SharedParts& shared, std::vector<std::string>& texts) {
  if (shared.microphone)
    texts.emplace_back("the guest can hear this host's microphone (audio.microphone)");
  if (!shared.additional_disks.empty()) {
    texts.push_back(Format("other instances can use the same disks (additionalDisks: {})",
                           Join(shared.additional_disks)));
  }
  for (const std::string& network : shared.networks) {
    texts.push_back(
        Format("{} can reach the guest (networks: {})", WhoReachesGuest(network), network));
  }
}

/// A warning if the guest of the instance `name` can write one of `paths`.
std::optional<Finding> CheckOtherInstance(const fs::path& lima_home, const std::string& name,
                                          const std::vector<std::string>& paths) {
  std::set<std::string> reached;
  std::set<std::string> mounts;
  try {
    const GuestReach reach(lima::ListMounts(lima::LoadConfiguration(lima_home, name)));
    for (const std::string& path : paths) {
      const auto mount = reach.MountHoldingOrBelow(path);
      if (!mount) continue;
      reached.insert(path);
      mounts.insert(*mount);
    }
  } catch (const support::Error&) {
    return std::nullopt;
  }
  if (reached.empty()) return std::nullopt;
  const auto list = [](const std::set<std::string>& all) { return Join({all.begin(), all.end()}); };
  return Warning(Format("the guest of the instance {} can change {}{}", name, list(reached),
                        reached == mounts ? "" : Format(", since it can write {}", list(mounts))),
                 Format("change its mounts: {}", lima::EditCommands(name)));
}

}  // namespace

Exposure FindExposure(const InstanceConfiguration& configuration, const Mounts& mounts,
                      const std::string& project, const support::Environment& environment) {
  Exposure exposure;
  exposure.escape = FindEscape(configuration, mounts);
  const std::set<std::string> secrets = ReadableSecrets(mounts, environment);
  if (!secrets.empty()) {
    exposure.rest.push_back(
        Format("the guest can read {}", Join({secrets.begin(), secrets.end()})));
  }
  for (const lima::Mount& mount : mounts) {
    if (mount.writable && mount.location == lima::kSharedDirectory) {
      exposure.rest.push_back(
          Format("the guest can write {}, as other guests of Lima's", mount.location));
    }
    const auto rest = support::PathBelow(project, exposure::ResolvedOnHost(mount.location));
    if (mount.writable && rest && !rest->empty()) {
      exposure.rest.push_back(
          Format("the guest can write {}, which is more than the project", mount.location));
    }
  }
  if (configuration.forwards_agent) {
    exposure.rest.emplace_back("the guest can use your SSH agent (forwardAgent)");
  }
  if (configuration.forwards_ports) {
    exposure.rest.emplace_back("ports of the guest are forwarded to this host (portForwards)");
  }
  AddSharedParts(configuration.shared, exposure.rest);
  std::vector<std::string> paths = {configuration.lima_home.string()};
  // What holds the home directory is no project, but where doctor was run.
  const bool is_project =
      !project.empty() && !support::PathBelow(support::Value(environment, "HOME"), project);
  if (is_project) paths.insert(paths.begin(), project);
  for (const std::string& name : lima::ListInstances(configuration.lima_home)) {
    if (name == configuration.name) continue;
    if (auto warning = CheckOtherInstance(configuration.lima_home, name, paths))
      exposure.other_instances.push_back(*std::move(warning));
  }
  return exposure;
}

std::string LoopbackAdvice(const InstanceConfiguration& configuration,
                           const std::optional<support::Release>& release) {
  const lima::SharedParts& shared = configuration.shared;
  const bool can_close = release && *release >= support::Release{2, 3, 0} &&
                         lima::DriverOf(configuration) == "vz" &&
                         std::ranges::count(shared.networks, "user-v2") == 0;
  if (!can_close || !shared.host_loopback) return "";
  return Format(
      "networkOpts: {hostLoopback: false} keeps the guest from 127.0.0.1 of this host: {}",
      lima::EditCommands(configuration.name));
}

Finding CheckExposure(const Exposure& exposure, const std::string& recommendation) {
  std::vector<std::string> texts = exposure.rest;
  std::vector<std::string> advice;
  if (!exposure.escape.empty()) texts.insert(texts.begin(), exposure.escape);
  if (!texts.empty()) {
    advice.push_back(
        Format("make an instance for the project alone: {}", lima::SandboxCommand("sandbox")));
  }
  for (const Finding& other : exposure.other_instances) {
    texts.push_back(other.text);
    advice.push_back(other.advice);
  }
  if (!recommendation.empty()) advice.push_back(recommendation);
  Finding finding = texts.empty() ? Passed("nothing of this host but the mounts")
                                  : Warning(Join(texts, "; "), "");
  finding.advice = Join(advice, "; ");
  return finding;
}

}  // namespace doctor
