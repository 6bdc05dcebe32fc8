// SPDX-License-Identifier: Apache-2.0
#include "doctor/host_checks.h"

#include <unistd.h>

#include <string_view>
#include <system_error>

#include "copy/side_repository.h"
#include "lima/sandbox.h"
#include "lima/status.h"
#include "support/child.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/join.h"
#include "support/program.h"
#include "support/version.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;
using lima::InstanceConfiguration;
using support::Format;
using support::Join;

constexpr const char* kInstallLima =
    "install Lima 2.2.1 or later: https://lima-vm.io/docs/installation/";

}  // namespace

std::optional<fs::path> FindPlugin(const fs::path& limactl, const std::string& path) {
  std::error_code error;
  std::string directories;
  std::string further;
  for (const fs::path& program : {fs::absolute(limactl), fs::canonical(limactl, error)}) {
    const fs::path own = program.parent_path();
    const std::string prefix = own.parent_path().string();
    directories += own.string() + ":";
    further += ":" + prefix + "/libexec/lima:" + prefix + "/lib/lima";
  }
  return support::FindProgram("limactl-mcp", directories + path + further);
}

Finding CheckLimactl(const std::optional<fs::path>& limactl, const support::Context& context,
                     std::optional<support::Release>& release) {
  if (!limactl) return Failed("no limactl on PATH", kInstallLima);
  support::Child child({limactl->string(), "--version"});
  const std::string version = child.ReadLine(context).value_or("");
  if (const int exit_code = child.Finish(context); exit_code != 0) {
    return Failed(Format("{} --version exits with status {}: {}", limactl->string(), exit_code,
                         child.error()),
                  ::geteuid() == 0 ? "run this as the user who owns the instance" : kInstallLima);
  }
  const std::string found = Format("{} ({})", version, limactl->string());
  release = support::ParseRelease(version);
  if (!release) return Warning(Format("{} is not a release", found), "use Lima 2.2.1 or later");
  if (*release < support::Release{2, 0, 0}) {
    return Failed(Format("{} is too old for plugins", found), kInstallLima);
  }
  if (*release < support::Release{2, 2, 0}) {
    return Warning(
        Format("{}: before Lima 2.2.0 a guest can take over this host's end of SSH", found),
        kInstallLima);
  }
  return Passed(found);
}

Finding CheckPlugin(const std::optional<fs::path>& plugin, const fs::path& own_program) {
  if (!plugin) {
    return Failed(Format("limactl does not find this program ({})", own_program.string()),
                  "put it, or a link to it, in a directory on PATH, such as /usr/local/bin");
  }
  std::error_code error;
  if (fs::equivalent(*plugin, own_program, error))
    return Passed(Format("`limactl mcp` runs this program, {}", plugin->string()));
  return Failed(Format("`limactl mcp` runs another program, {}, not {}", plugin->string(),
                       own_program.string()),
                "remove that file, or put this program before it: limactl looks in its own "
                "directory, then along PATH, then in libexec/lima");
}

std::optional<fs::path> ChangedAfterStart(const InstanceConfiguration& configuration) {
  if (lima::InspectStatus(configuration.directory(), configuration.vm_type).state ==
      lima::State::kStopped) {
    return std::nullopt;
  }
  std::error_code missing;
  const auto start = fs::last_write_time(configuration.directory() / "ha.pid", missing);
  if (missing) return std::nullopt;
  const fs::path shared = configuration.lima_home / "_config";
  for (const fs::path& file : {configuration.directory() / "lima.yaml", shared / "default.yaml",
                               shared / "override.yaml"}) {
    const auto change = fs::last_write_time(file, missing);
    if (!missing && change > start) return file;
  }
  return std::nullopt;
}

Finding CheckConfiguration(const InstanceConfiguration& configuration) {
  const std::string text =
      Format("{} guest, login shell {}{}", configuration.os, lima::LoginShell(configuration),
             configuration.vm_type ? ", " + *configuration.vm_type : "");
  const auto changed = ChangedAfterStart(configuration);
  if (!changed) return Passed(text);
  return Warning(Format("{}; {} was changed after the instance started", text, changed->string()),
                 lima::RestartCommand(configuration.name));
}

Finding CheckStatus(const InstanceConfiguration& configuration) {
  const lima::Status status = lima::InspectStatus(configuration.directory(), configuration.vm_type);
  if (status.state == lima::State::kRunning) return Passed("running");
  if (status.state == lima::State::kStopped) {
    return Failed("stopped", "limactl start " + configuration.name);
  }
  return Failed(Format("broken: {}", status.reason),
                Format("unless it is starting or stopping: {}",
                       lima::ForcedRestartCommand(configuration.name)));
}

Finding CheckMounts(const InstanceConfiguration& configuration, const Mounts& mounts) {
  if (configuration.closed() && mounts.empty())
    return Passed("a closed instance mounts nothing: `limactl mcp run` works in a copy");
  const std::string edit = lima::EditCommands(configuration.name);
  if (configuration.plain_drops_mounts && copy::ListFacts(configuration.directory()).empty()) {
    return Warning("plain: true in the configuration: the instance mounts nothing",
                   Format("`limactl mcp run` works in a copy. To mount, remove that: {}", edit));
  }
  if (mounts.empty()) return Passed("none: `limactl mcp run` works in a copy");
  std::vector<std::string> list;
  std::vector<std::string> missing;
  std::vector<std::string> stale;
  for (const lima::Mount& mount : mounts) {
    const bool is_elsewhere = mount.mount_point != mount.location;
    list.push_back(Format("{}{}{}", mount.location, mount.writable ? " (writable)" : " (read-only)",
                          is_elsewhere ? Format(" at {}", mount.mount_point) : ""));
    std::error_code unknown;
    if (!fs::is_directory(mount.location, unknown)) missing.push_back(mount.location);
    if (mount.reads_may_be_stale) stale.push_back(mount.location);
  }
  if (!missing.empty()) {
    return Failed(Format("{}; no directory on this host: {}", Join(list), Join(missing)),
                  Format("create it, or change the mounts: {}", edit));
  }
  if (!stale.empty()) {
    return Warning(Format("{}; may be stale in the guest (9p with cache fscache): {}", Join(list),
                          Join(stale)),
                   Format("set 9p: {cache: mmap} at these mounts: {}", edit));
  }
  return Passed(Join(list));
}

Finding CheckSshConfig(const InstanceConfiguration& configuration,
                       const lima::SshEndpoint& endpoint) {
  int port = 0;
  try {
    port = lima::QueryHostAgent(configuration.directory() / "ha.sock");
  } catch (const support::Error& error) {
    return Failed(error.what(), lima::ForcedRestartCommand(configuration.name));
  }
  if (port == 0) {
    return Warning("the host agent does not know its SSH port yet",
                   "wait until the instance has started: limactl list");
  }
  if (port != endpoint.port) {
    return Failed(
        Format("ssh.config has port {}, the host agent port {}: "
               "the former may belong to another instance",
               endpoint.port, port),
        Format("{}, which rewrites ssh.config", lima::RestartCommand(configuration.name)));
  }
  return Passed(Format("{} at {} port {}", endpoint.user, endpoint.host, endpoint.port));
}

}  // namespace doctor
