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

constexpr const char* kFile = "share/lima/templates/agent-sandbox.yaml";

/// The template in the prefix of a program in `bin`, also if the program is a link.
std::optional<fs::path> Beside(const fs::path& program, const char* prefix) {
  std::error_code unknown;
  for (const fs::path& file : {program, fs::canonical(program, unknown)}) {
    fs::path found = (file.parent_path() / prefix / kFile).lexically_normal();
    if (fs::exists(found, unknown)) return found;
  }
  return std::nullopt;
}

std::string OwnTemplate() {
  return SandboxTemplate(support::OwnProgram(), support::EnvironmentVariable("PATH"));
}

}  // namespace

std::string SandboxTemplate(const fs::path& program, const std::string& path) {
  const auto limactl = support::FindProgram("limactl", path);
  const bool limactl_finds_it = limactl && Beside(*limactl, "..") &&
                                support::EnvironmentVariable("LIMA_TEMPLATES_PATH").empty();
  auto file = Beside(program, "..");
  if (!file) file = Beside(program, "../../..");  // build/PRESET/plugin in a checkout
  if (limactl_finds_it || !file) return "template:agent-sandbox";
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
  return {"limactl", "start", "--tty=false", "--name", name, "--mount-none", OwnTemplate()};
}

}  // namespace lima
