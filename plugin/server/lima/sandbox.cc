// SPDX-License-Identifier: Apache-2.0
#include "lima/sandbox.h"

#include <optional>
#include <system_error>

#include "shell/shell_quote.h"
#include "support/environment.h"
#include "support/format.h"
#include "support/program.h"

namespace lima {
namespace {

namespace fs = std::filesystem;
using support::Format;

/// The file in the prefix of a program in `bin`, also if the program is a link.
std::optional<fs::path> Beside(const fs::path& program, const fs::path& file_in_prefix) {
  std::error_code unknown;
  for (const fs::path& file : {program, fs::canonical(program, unknown)}) {
    fs::path found = (file.parent_path() / file_in_prefix).lexically_normal();
    if (fs::exists(found, unknown)) return found;
  }
  return std::nullopt;
}

std::string OwnTemplate(const std::string& name = "agent-sandbox") {
  return SandboxTemplate(support::OwnProgram(), support::EnvironmentVariable("PATH"), name);
}

}  // namespace

std::string SandboxTemplate(const fs::path& program, const std::string& path,
                            const std::string& name) {
  const std::string installed = "../share/lima/templates/" + name + ".yaml";
  const auto limactl = support::FindProgram("limactl", path);
  const bool limactl_finds_it = limactl && Beside(*limactl, installed) &&
                                support::EnvironmentVariable("LIMA_TEMPLATES_PATH").empty();
  auto file = Beside(program, installed);
  if (!file) file = Beside(program, "../../" + installed);  // build/PRESET/plugin in a checkout
  if (limactl_finds_it || !file) return "template:" + name;
  return file->string();
}

std::string RestartCommand(const std::string& instance) {
  return Format("limactl stop {} && limactl start {}", instance, instance);
}

std::string ForcedRestartCommand(const std::string& instance) {
  return Format("limactl stop --force {} && limactl start {}", instance, instance);
}

std::string EditCommands(const std::string& instance, const std::string& arguments) {
  return Format("`limactl stop {}`, then `limactl edit {} --start{}`", instance, instance,
                arguments);
}

std::string SandboxCommand(const std::string& name, const std::string& directory) {
  return Format("limactl start --name {} --mount-only {} {}", name,
                directory.empty() ? "\"$PWD:w\"" : shell::ShellQuote(directory + ":w"),
                shell::ShellQuote(OwnTemplate()));
}

std::vector<std::string> MountlessSandboxCommand(const std::string& name) {
  if (name != kClosedInstance)
    return {"limactl", "start", "--tty=false", "--name", name, "--mount-none", OwnTemplate()};
  // As git and getcwd() name projects: without links.
  std::error_code unknown;
  const fs::path home = fs::weakly_canonical(support::EnvironmentVariable("HOME"), unknown);
  return {"limactl",
          "start",
          "--tty=false",
          "--name",
          name,
          "--set",
          Format(".param.hostHome=\"{}\"", home.string()),
          OwnTemplate("agent-closed")};
}

}  // namespace lima
