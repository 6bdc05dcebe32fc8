// SPDX-License-Identifier: Apache-2.0
#include "lima/mounts.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "support/errors.h"
#include "support/format.h"
#include "support/paths.h"
#include "support/regex.h"
#include "support/sha256.h"

namespace lima {
namespace {

std::string LookUpParameter(const InstanceConfiguration& configuration, std::string_view name) {
  constexpr std::string_view kPrefix = "Param.";
  const std::string use = support::Format("a template uses {{.{}}}, ", name);
  if (!name.starts_with(kPrefix)) throw support::Error("{}which does not exist", use);
  const auto found = configuration.param.find(name.substr(kPrefix.size()));
  if (found == configuration.param.end())
    throw support::Error("{}but lima.yaml has no such param", use);
  if (!found->second)
    throw support::Error("{}whose value Lima would print differently; put it in quotes", use);
  return *found->second;
}

/// Fields of `location`. Follows executeHostTemplate.
std::string LookUpOnHost(const InstanceConfiguration& configuration, const HostFacts& host,
                         std::string_view name) {
  if (name == "Home") return host.home;
  if (name == "Dir") return configuration.directory().string();
  if (name == "Name" || name == "Instance") return configuration.name;
  if (name == "UID") return std::to_string(host.uid);
  if (name == "User") return host.user;
  if (name == "GlobalTempDir") return "/tmp";
  if (name == "TempDir") return host.temp_dir;
  if (name == "LimaHome") return configuration.lima_home.string();
  return LookUpParameter(configuration, name);
}

/// Errors begin with `where`.
std::string Evaluate(const std::string& where, const std::string& text, const FieldLookup& lookup) {
  try {
    return EvaluateTemplate(text, lookup);
  } catch (const support::Error& error) {
    throw support::Error("{}: {}", where, error.what());
  }
}

[[noreturn]] void ThrowEntry(const MountEntry& entry, const char* field, const std::string& value,
                             const char* problem) {
  throw support::Error("{}, {}: \"{}\"{}", entry.where, field, value, problem);
}

void RequireAbsolute(const MountEntry& entry, const char* field, const std::string& path) {
  if (path.find('\0') != std::string::npos)
    throw support::Error("{}, {}: it has a NUL character", entry.where, field);
  if (!path.starts_with('/')) ThrowEntry(entry, field, path, " is not an absolute path");
}

std::string EvaluateLocation(const InstanceConfiguration& configuration, const HostFacts& host,
                             const MountEntry& entry) {
  constexpr const char* kField = "location";
  std::string location =
      Evaluate(entry.where + ", " + kField, entry.location,
               [&](std::string_view name) { return LookUpOnHost(configuration, host, name); });
  location = support::CleanPath(location);
  if (location == "~" || location.starts_with("~/")) {
    location = support::CleanPath(host.home + location.substr(1));
  }
  if (location.starts_with('~'))
    ThrowEntry(entry, kField, location, ": only ~ and ~/ are expanded, not ~user");
  RequireAbsolute(entry, kField, location);
  return location;
}

std::string MountPointOf(const MountEntry& entry, const std::string& location) {
  constexpr const char* kField = "mountPoint";
  std::string mount_point = entry.mount_point.value_or(location);
  if (entry.mount_point && mount_point.find("{{") != std::string::npos)
    ThrowEntry(entry, kField, mount_point, " has a template; write the path itself");
  RequireAbsolute(entry, kField, mount_point);
  if (support::CleanPath(mount_point) == "/")
    ThrowEntry(entry, kField, mount_point, " is the guest's whole file system");
  return mount_point;
}

/// Follows FillConfig of each driver in Lima's pkg/driver, but for QEMU on Windows, which has no
/// 9p. Empty for external drivers, whose defaults are not known here.
std::string MountTypeOf(const InstanceConfiguration& configuration, const std::string& driver) {
  if (configuration.mount_type.has_value()) return *configuration.mount_type;
  if (driver == "qemu") {
    const bool is_sshfs = configuration.nine_p_is_unsupported || configuration.is_of_old_lima;
    return is_sshfs ? "reverse-sshfs" : "9p";
  }
  if (driver == "vz" || driver == "krunkit") return "virtiofs";
  return driver == "wsl2" ? driver : "";
}

}  // namespace

std::string DriverOf(const InstanceConfiguration& configuration, const HostFacts& host) {
  const bool is_native = configuration.arch.value_or(host.arch) == host.arch;
  return configuration.vm_type.value_or(is_native ? host.vm_type : "qemu");
}

std::string EvaluateTemplate(std::string_view text, const FieldLookup& lookup) {
  static const support::Regex action(
      R"(\{\{[ \t\r\n]*\$?\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)[ \t\r\n]*\}\})",
      support::Regex::kLatin1);
  std::string result;
  while (true) {
    const std::size_t open = text.find("{{");
    result += text.substr(0, open);
    if (open == std::string_view::npos) return result;
    std::string_view rest = text.substr(open);
    std::string name;
    if (!action.Consume(rest, &name)) {
      throw support::Error("the template {} is not supported; use fields such as {{.Home}}",
                           text.substr(open));
    }
    result += lookup(name);
    text = rest;
  }
}

std::string MountTag(const Mount& mount) {
  constexpr std::size_t kDigits = 16;
  const std::string mounted = mount.location + ":" + mount.unclean_mount_point;
  return "lima-" + support::Sha256(mounted).substr(0, kDigits);
}

std::vector<Mount> ListMounts(const InstanceConfiguration& configuration, const HostFacts& host) {
  const std::string driver = DriverOf(configuration, host);
  const std::string type = MountTypeOf(configuration, driver);
  std::vector<Mount> mounts;
  std::unordered_map<std::string, std::size_t> index_of;
  for (const MountEntry& entry : configuration.mounts) {
    const std::string location = EvaluateLocation(configuration, host, entry);
    const std::string mount_point = MountPointOf(entry, location);
    const auto [found, is_new] = index_of.emplace(mount_point, mounts.size());
    if (is_new) {
      Mount mount{.location = location, .unclean_mount_point = mount_point};
      mount.mount_point = support::CleanPath(mount.unclean_mount_point);
      mounts.push_back(std::move(mount));
    }
    Mount& mount = mounts[found->second];
    mount.writable = entry.writable.value_or(mount.writable);
    if (entry.writable) mount.writable_where = entry.where;
    mount.nine_p_cache = entry.nine_p_cache.value_or(mount.nine_p_cache);
  }
  for (Mount& mount : mounts) {
    if (mount.nine_p_cache.empty()) mount.nine_p_cache = mount.writable ? "mmap" : "fscache";
    mount.reads_may_be_stale =
        type == "9p" && (mount.nine_p_cache == "fscache" || mount.nine_p_cache == "loose");
    mount.type = type;
    mount.enforces_read_only = type == "9p" || (type == "virtiofs" && driver == "vz");
  }
  return mounts;
}

}  // namespace lima
