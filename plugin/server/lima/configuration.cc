// SPDX-License-Identifier: Apache-2.0
#include "lima/configuration.h"

#include <algorithm>
#include <utility>

#include "lima/home.h"
#include "lima/yaml_document.h"
#include "support/errors.h"
#include "support/files.h"
#include "support/regex.h"

namespace lima {
namespace {

MountEntry ReadMount(const YAML::Node& node, const std::string& file, const std::string& what) {
  const yaml::Mapping mount(node, file, what);
  MountEntry entry;
  entry.where = file + ": " + what + yaml::AtLine(node);
  entry.location = mount.String("location").value_or("");
  entry.mount_point = mount.String("mountPoint");
  entry.writable = mount.Boolean("writable");
  entry.nine_p_cache = mount.Child("9p").String("cache");
  return entry;
}

/// Follows Lima's pkg/portfwd: the address 0.0.0.0 means all if it need not be that one.
bool IgnoresPorts(const yaml::Mapping& top, const std::string& file) {
  const std::vector<YAML::Node> rules = top.Sequence("portForwards");
  return std::any_of(rules.begin(), rules.end(), [&](const YAML::Node& item) {
    const yaml::Mapping rule(item, file, "portForwards");
    const auto has = [&](const char* key) { return rule.entries().contains(key); };
    return rule.Boolean("ignore") == true && rule.String("guestIP") == "0.0.0.0" &&
           rule.Boolean("guestIPMustBeZero") == false &&
           rule.String("proto").value_or("any") == "any" && !has("guestPort") &&
           !has("guestPortRange");
  });
}

/// Of an entry that is a name, or a mapping with one.
std::string NameOf(const YAML::Node& node, const std::string& file, const std::string& what) {
  if (node.IsScalar()) return node.Scalar();
  return yaml::Mapping(node, file, what).String("name").value_or("unnamed");
}

template <typename Setting, typename Value>
void Overlay(Setting& setting, std::optional<Value> stronger) {
  if (stronger.has_value()) setting = *std::move(stronger);
}

/// Lists of all files count together (FillDefault); networks with the same `interface` would
/// replace each other.
void ReadSharedParts(const yaml::Mapping& top, const std::string& file, SharedParts& shared) {
  for (const YAML::Node& item : top.Sequence("blockDevices")) {
    shared.block_devices.push_back(NameOf(item, file, "blockDevices"));
    shared.block_devices_where = top.Where("blockDevices");
  }
  for (const YAML::Node& item : top.Sequence("additionalDisks"))
    shared.additional_disks.push_back(NameOf(item, file, "additionalDisks"));
  for (const YAML::Node& item : top.Sequence("networks")) {
    const yaml::Mapping network(item, file, "networks");
    for (const char* key : {"lima", "socket"}) {
      if (auto name = network.String(key); name && !name->empty())
        shared.networks.push_back(*std::move(name));
    }
  }
  Overlay(shared.microphone, top.Child("audio").Boolean("microphone"));
  Overlay(shared.host_loopback, top.Child("networkOpts").Boolean("hostLoopback"));
}

/// "" means unset, and so does "default" for os and arch (ResolveOS, ResolveArch in Lima's
/// pkg/limayaml/defaults.go). Lima refuses "default" as vmType or mountType, so there it never
/// counts.
bool IsDefault(const std::optional<std::string>& value) {
  return value == "" || value == "default";
}

}  // namespace

void ApplyFile(std::string_view text, const std::string& file,
               InstanceConfiguration& configuration) {
  const yaml::Mapping top(yaml::Parse(text, file), file, "");
  Overlay(configuration.plain, top.Boolean("plain"));
  Overlay(configuration.os, top.String("os"));
  Overlay(configuration.arch, top.String("arch"));
  Overlay(configuration.vm_type, top.String("vmType"));
  Overlay(configuration.mount_type, top.String("mountType"));
  Overlay(configuration.forwards_agent, top.Child("ssh").Boolean("forwardAgent"));
  ReadSharedParts(top, file, configuration.shared);
  Overlay(configuration.shell, top.Child("user").String("shell"));
  for (const YAML::Node& item : top.Sequence("mountTypesUnsupported")) {
    if (item.IsScalar() && item.Scalar() == "9p") configuration.nine_p_is_unsupported = true;
  }
  if (IgnoresPorts(top, file)) configuration.forwards_ports = false;
  const yaml::Mapping param = top.Child("param");
  configuration.param.clear();
  for (const auto& [key, node] : param.entries()) {
    std::optional<std::string>& value = configuration.param[key];
    value = param.String(key).value_or("");
    if (yaml::IsRewrittenByLima(node)) value.reset();
  }
  int number = 0;
  for (const YAML::Node& item : top.Sequence("mounts")) {
    configuration.mounts.push_back(ReadMount(item, file, support::Format("mounts[{}]", number++)));
  }
}

InstanceConfiguration MergeConfiguration(const std::filesystem::path& lima_home,
                                         const std::string& name, std::string_view defaults,
                                         std::string_view main, std::string_view override_text) {
  const std::filesystem::path shared = lima_home / "_config";
  InstanceConfiguration merged;
  merged.lima_home = lima_home;
  merged.name = name;
  ApplyFile(defaults, shared / "default.yaml", merged);
  ApplyFile(main, lima_home / name / "lima.yaml", merged);
  const auto param = merged.param;
  ApplyFile(override_text, shared / "override.yaml", merged);
  merged.param = param;

  for (auto* setting : {&merged.arch, &merged.vm_type, &merged.mount_type}) {
    if (IsDefault(*setting)) setting->reset();
  }
  if (IsDefault(merged.os)) merged.os = InstanceConfiguration().os;
  if (merged.plain) {
    merged.plain_drops_mounts = !merged.mounts.empty();
    merged.mounts.clear();
    merged.forwards_ports = false;
  }
  return merged;
}

InstanceConfiguration LoadConfiguration(const std::filesystem::path& lima_home,
                                        const std::string& name) {
  RequireInstance(lima_home, name);
  const auto read = [&](const char* file) {
    return support::ReadFile(lima_home / file, kMaxConfigurationFile).value_or("");
  };
  InstanceConfiguration merged =
      MergeConfiguration(lima_home, name, read("_config/default.yaml"),
                         read((name + "/lima.yaml").c_str()), read("_config/override.yaml"));
  // Follows Lima's ExistingLimaVersion and pkg/version/versionutil: what is no version is the
  // latest one. Lima before 0.20 wrote no such file.
  static const support::Regex old(R"(\s*(?:v?0\.\d+\.\d+(?:\+[\w.]+)?(?:\.m)?(?:-.*)?)?\s*)");
  merged.is_of_old_lima = old.FullMatch(read((name + "/lima-version").c_str()));
  return merged;
}

std::string LoginShell(const InstanceConfiguration& configuration) {
  if (configuration.os == "Windows") {
    throw support::Error(
        "instance \"{}\" is a Windows guest, which is not supported; use another instance",
        configuration.name);
  }
  if (configuration.shell.has_value()) return *configuration.shell;
  if (configuration.os == "FreeBSD") return "/bin/sh";
  if (configuration.os == "Darwin") return "/bin/zsh";
  return "/bin/bash";
}

}  // namespace lima
