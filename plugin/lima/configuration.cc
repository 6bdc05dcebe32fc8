#include "lima/configuration.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lima/home.h"
#include "lima/text_file.h"
#include "lima/yaml_document.h"

namespace lima {
namespace {

GuestUser ReadUser(const yaml::Mapping& user) {
  GuestUser result;
  result.home = user.String("home");
  result.home_where = user.Where("home");
  result.shell = user.String("shell");
  result.uid = user.Number("uid");
  return result;
}

std::map<std::string, Parameter, std::less<>> ReadParameters(const yaml::Mapping& param) {
  std::map<std::string, Parameter, std::less<>> result;
  for (const auto& [key, node] : param.entries()) {
    result[key] = {param.String(key).value_or(""), yaml::IsRewrittenByLima(node)};
  }
  return result;
}

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

std::vector<MountEntry> ReadMounts(const yaml::Mapping& top, const std::string& file) {
  std::vector<MountEntry> mounts;
  for (const YAML::Node& item : top.Sequence("mounts")) {
    mounts.push_back(ReadMount(item, file, "mounts[" + std::to_string(mounts.size()) + "]"));
  }
  return mounts;
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

bool NamesNineP(const std::vector<YAML::Node>& mount_types) {
  return std::any_of(mount_types.begin(), mount_types.end(), [](const YAML::Node& item) {
    return item.IsScalar() && item.Scalar() == "9p";
  });
}

template <typename Value>
void Overlay(std::optional<Value>& base, const std::optional<Value>& stronger) {
  if (stronger.has_value()) base = stronger;
}

/// Overlays everything but `param`.
void Overlay(ConfigurationFile& base, const ConfigurationFile& stronger) {
  Overlay(base.plain, stronger.plain);
  Overlay(base.os, stronger.os);
  Overlay(base.arch, stronger.arch);
  Overlay(base.vm_type, stronger.vm_type);
  Overlay(base.mount_type, stronger.mount_type);
  Overlay(base.forward_agent, stronger.forward_agent);
  Overlay(base.user.shell, stronger.user.shell);
  Overlay(base.user.uid, stronger.user.uid);
  Overlay(base.user.home, stronger.user.home);
  if (stronger.user.home.has_value()) base.user.home_where = stronger.user.home_where;
  base.nine_p_is_unsupported = base.nine_p_is_unsupported || stronger.nine_p_is_unsupported;
  base.ignores_ports = base.ignores_ports || stronger.ignores_ports;
  base.mounts.insert(base.mounts.end(), stronger.mounts.begin(), stronger.mounts.end());
}

/// "" and "default" mean unset. Follows FillDefault, ResolveOS and ResolveArch in Lima's
/// pkg/limayaml/defaults.go.
std::optional<std::string> WithoutDefault(std::optional<std::string> value) {
  if (value == "" || value == "default") value.reset();
  return value;
}

std::string ResolveOperatingSystem(const std::optional<std::string>& os, const std::string& name) {
  constexpr std::array kKnown = {"Linux", "Darwin", "FreeBSD", "Windows"};
  if (!os.has_value()) return kKnown.front();
  if (std::find(kKnown.begin(), kKnown.end(), *os) != kKnown.end()) return *os;
  throw ConfigurationError("the configuration of instance \"" + name + "\" has os: " + *os +
                           "; use Linux, Darwin or FreeBSD");
}

ConfigurationFile ReadOptional(const std::filesystem::path& path) {
  const auto text = ReadTextFile(path, kMaxConfigurationFile);
  return text.has_value() ? ParseConfiguration(*text, path.string()) : ConfigurationFile();
}

}  // namespace

ConfigurationFile ParseConfiguration(std::string_view text, const std::string& file) {
  const yaml::Mapping top(yaml::Parse(text, file), file, "");
  ConfigurationFile result;
  result.plain = top.Boolean("plain");
  result.os = top.String("os");
  result.arch = top.String("arch");
  result.vm_type = top.String("vmType");
  result.mount_type = top.String("mountType");
  result.nine_p_is_unsupported = NamesNineP(top.Sequence("mountTypesUnsupported"));
  result.forward_agent = top.Child("ssh").Boolean("forwardAgent");
  result.ignores_ports = IgnoresPorts(top, file);
  result.user = ReadUser(top.Child("user"));
  result.param = ReadParameters(top.Child("param"));
  result.mounts = ReadMounts(top, file);
  return result;
}

InstanceConfiguration MergeConfiguration(const std::filesystem::path& lima_home,
                                         const std::string& name, ConfigurationFile defaults,
                                         ConfigurationFile main,
                                         const ConfigurationFile& override_file) {
  InstanceConfiguration merged;
  merged.lima_home = lima_home;
  merged.name = name;
  ConfigurationFile all = std::move(defaults);
  all.param = std::move(main.param);
  Overlay(all, main);
  Overlay(all, override_file);
  merged.plain = all.plain.value_or(false);
  merged.os = ResolveOperatingSystem(WithoutDefault(all.os), name);
  static_cast<Settings&>(merged) = std::move(all);
  for (auto* setting : {&merged.arch, &merged.vm_type, &merged.mount_type}) {
    *setting = WithoutDefault(*setting);
  }
  if (merged.plain) merged.mounts.clear();
  merged.forwards_agent = merged.forward_agent.value_or(false);
  merged.forwards_ports = !merged.plain && !merged.ignores_ports;
  return merged;
}

InstanceConfiguration LoadConfiguration(const std::filesystem::path& lima_home,
                                        const std::string& name) {
  RequireInstance(lima_home, name);
  const std::filesystem::path shared = lima_home / "_config";
  return MergeConfiguration(lima_home, name, ReadOptional(shared / "default.yaml"),
                            ReadOptional(lima_home / name / "lima.yaml"),
                            ReadOptional(shared / "override.yaml"));
}

std::string LoginShell(const InstanceConfiguration& configuration) {
  if (configuration.os == "Windows") {
    throw ConfigurationError("instance \"" + configuration.name +
                             "\" is a Windows guest, which is not supported; use another instance");
  }
  if (configuration.user.shell.has_value()) {
    if (!configuration.user.shell->starts_with('/')) {
      throw ConfigurationError("the configuration of instance \"" + configuration.name +
                               "\" has user.shell: \"" + *configuration.user.shell +
                               "\"; use an absolute path");
    }
    return *configuration.user.shell;
  }
  if (configuration.os == "FreeBSD") return "/bin/sh";
  if (configuration.os == "Darwin") return "/bin/zsh";
  return "/bin/bash";
}

}  // namespace lima
