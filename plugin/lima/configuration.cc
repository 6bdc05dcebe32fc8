#include "lima/configuration.h"

#include <algorithm>
#include <array>
#include <utility>

#include "lima/home.h"
#include "lima/text_file.h"
#include "lima/yaml_document.h"

namespace lima {
namespace {

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
void Overlay(std::optional<Value>& base, std::optional<Value> stronger) {
  if (stronger.has_value()) base = std::move(stronger);
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

}  // namespace

ConfigurationFile ParseConfiguration(std::string_view text, const std::string& file,
                                     ConfigurationFile weaker) {
  const yaml::Mapping top(yaml::Parse(text, file), file, "");
  const yaml::Mapping user = top.Child("user");
  ConfigurationFile result = std::move(weaker);
  Overlay(result.plain, top.Boolean("plain"));
  Overlay(result.os, top.String("os"));
  Overlay(result.arch, top.String("arch"));
  Overlay(result.vm_type, top.String("vmType"));
  Overlay(result.mount_type, top.String("mountType"));
  Overlay(result.forward_agent, top.Child("ssh").Boolean("forwardAgent"));
  Overlay(result.user.shell, user.String("shell"));
  Overlay(result.user.uid, user.Number("uid"));
  if (auto home = user.String("home")) {
    result.user.home = std::move(home);
    result.user.home_where = user.Where("home");
  }
  if (NamesNineP(top.Sequence("mountTypesUnsupported"))) result.nine_p_is_unsupported = true;
  if (IgnoresPorts(top, file)) result.ignores_ports = true;
  result.param = ReadParameters(top.Child("param"));
  int number = 0;
  for (const YAML::Node& item : top.Sequence("mounts")) {
    result.mounts.push_back(ReadMount(item, file, "mounts[" + std::to_string(number++) + "]"));
  }
  return result;
}

InstanceConfiguration MergeConfiguration(const std::filesystem::path& lima_home,
                                         const std::string& name, std::string_view defaults,
                                         std::string_view main, std::string_view override_text) {
  const std::filesystem::path shared = lima_home / "_config";
  ConfigurationFile all = ParseConfiguration(defaults, shared / "default.yaml");
  all = ParseConfiguration(main, lima_home / name / "lima.yaml", std::move(all));
  const auto param = all.param;  // those of the other files do not count
  all = ParseConfiguration(override_text, shared / "override.yaml", std::move(all));
  InstanceConfiguration merged;
  merged.lima_home = lima_home;
  merged.name = name;
  merged.plain = all.plain.value_or(false);
  merged.os = ResolveOperatingSystem(WithoutDefault(all.os), name);
  merged.forwards_agent = all.forward_agent.value_or(false);
  merged.forwards_ports = !merged.plain && !all.ignores_ports;
  static_cast<Settings&>(merged) = std::move(all);
  merged.param = param;
  for (auto* setting : {&merged.arch, &merged.vm_type, &merged.mount_type}) {
    *setting = WithoutDefault(*setting);
  }
  if (merged.plain) merged.mounts.clear();
  return merged;
}

InstanceConfiguration LoadConfiguration(const std::filesystem::path& lima_home,
                                        const std::string& name) {
  RequireInstance(lima_home, name);
  const auto read = [&](const char* file) {
    return ReadTextFile(lima_home / file, kMaxConfigurationFile).value_or("");
  };
  return MergeConfiguration(lima_home, name, read("_config/default.yaml"),
                            read((name + "/lima.yaml").c_str()), read("_config/override.yaml"));
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
