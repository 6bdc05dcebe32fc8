#include "doctor/installation.h"

#include <unistd.h>

#include <system_error>

#include "support/child.h"
#include "support/program.h"
#include "support/version.h"

namespace doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInstallLima =
    "install Lima 2.2 or later: https://lima-vm.io/docs/installation/";

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

Finding CheckLimactl(const std::optional<fs::path>& limactl, const support::Context& context) {
  if (!limactl) return Failed("no limactl on PATH", kInstallLima);
  support::Child child({limactl->string(), "--version"});
  const std::string version = child.ReadLine(context).value_or("");
  if (const int exit_code = child.Finish(context); exit_code != 0) {
    return Failed(limactl->string() + " --version exits with status " + std::to_string(exit_code) +
                      ": " + child.error(),
                  ::geteuid() == 0 ? "run this as the user who owns the instance" : kInstallLima);
  }
  const std::string found = version + " (" + limactl->string() + ")";
  const auto release = support::ParseRelease(version);
  if (!release) return Warning(found + " is not a release", "use Lima 2.2 or later");
  if (*release < support::Release{2, 0, 0}) {
    return Failed(found + " is too old for plugins", kInstallLima);
  }
  if (*release < support::Release{2, 2, 0}) {
    return Warning(found + ": before Lima 2.2.0 a guest can take over this host's end of SSH",
                   kInstallLima);
  }
  return Passed(found);
}

Finding CheckPlugin(const std::optional<fs::path>& plugin, const fs::path& own_program) {
  if (!plugin) {
    return Failed("limactl does not find this program (" + own_program.string() + ")",
                  "put it, or a link to it, in a directory on PATH, such as /usr/local/bin");
  }
  std::error_code error;
  if (fs::equivalent(*plugin, own_program, error)) {
    return Passed("`limactl mcp` runs this program, " + plugin->string());
  }
  return Failed(
      "`limactl mcp` runs another program, " + plugin->string() + ", not " + own_program.string(),
      "remove that file, or put this program before it: limactl looks in its own "
      "directory, then along PATH, then in libexec/lima");
}

}  // namespace doctor
