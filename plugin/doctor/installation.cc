#include "doctor/installation.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <system_error>
#include <vector>

#include "doctor/child.h"
#include "support/errors.h"

#ifdef __APPLE__
#include <mach-o/dyld.h>

#include <array>
#include <cstdint>
#endif

namespace doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPluginName = "limactl-mcp";
constexpr long kFirstMajorWithPlugins = 2;
constexpr const char* kInstallLima =
    "install Lima 2.0 or later: https://lima-vm.io/docs/installation/";

/// Like limactl, accepts a file that anyone may execute.
bool IsExecutable(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
}

std::vector<fs::path> SplitPath(const std::string& path) {
  std::vector<fs::path> directories;
  std::istringstream stream(path);
  for (std::string directory; std::getline(stream, directory, ':');) {
    if (!directory.empty()) directories.emplace_back(directory);
  }
  return directories;
}

}  // namespace

std::optional<fs::path> FindProgram(const std::string& name, const std::string& path) {
  for (const fs::path& directory : SplitPath(path)) {
    const fs::path program = directory / name;
    if (IsExecutable(program) && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return std::nullopt;
}

std::optional<fs::path> FindPlugin(const fs::path& limactl, const std::string& path) {
  std::error_code error;
  std::vector<fs::path> own = {fs::absolute(limactl).parent_path()};
  const fs::path resolved = fs::canonical(limactl, error);
  if (!error) own.push_back(resolved.parent_path());
  std::vector<fs::path> directories = own;
  for (fs::path& directory : SplitPath(path)) directories.push_back(std::move(directory));
  for (const fs::path& directory : own) {
    directories.push_back(directory.parent_path() / "libexec" / "lima");
    directories.push_back(directory.parent_path() / "lib" / "lima");
  }
  for (const fs::path& directory : directories) {
    if (IsExecutable(directory / kPluginName)) return directory / kPluginName;
  }
  return std::nullopt;
}

fs::path OwnProgram() {
#ifdef __APPLE__
  std::array<char, 4096> buffer{};
  auto size = static_cast<std::uint32_t>(buffer.size());
  if (_NSGetExecutablePath(buffer.data(), &size) != 0) {
    throw support::CallError("the path of this program is longer than 4095 bytes");
  }
  return buffer.data();
#else
  return fs::read_symlink("/proc/self/exe");
#endif
}

Finding CheckLimactl(const std::optional<fs::path>& limactl, const support::Context& context) {
  if (!limactl) return Failed("no limactl on PATH", kInstallLima);
  Child child({limactl->string(), "--version"});
  const std::string version = child.ReadLine(context).value_or("");
  if (const int exit_code = child.Finish(context); exit_code != 0) {
    return Failed(limactl->string() + " --version exits with status " + std::to_string(exit_code) +
                      ": " + child.ErrorText(),
                  ::geteuid() == 0 ? "run this as the user who owns the instance" : kInstallLima);
  }
  const std::string found = version + " (" + limactl->string() + ")";
  // The "2" of "limactl version 2.2.0".
  char* end = nullptr;
  const long major = std::strtol(version.c_str() + version.rfind(' ') + 1, &end, 10);
  if (*end != '.') return Warning(found + " is not a release", "use Lima 2.0 or later");
  if (major < kFirstMajorWithPlugins) {
    return Failed(found + " is too old for plugins", kInstallLima);
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
