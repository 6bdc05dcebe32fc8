#include "doctor/installation.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include "doctor/child.h"
#include "support/errors.h"

#ifdef __APPLE__
#include <libproc.h>
#include <mach-o/dyld.h>

#include <array>
#include <cstdint>
#endif

namespace doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPluginName = "limactl-mcp";
constexpr int kFirstMajorWithPlugins = 2;
constexpr const char* kInstallLima =
    "install Lima 2.0 or later: https://lima-vm.io/docs/installation/";

/// Like limactl: executable by anyone.
bool IsExecutable(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
}

std::vector<fs::path> SplitPath(std::string_view path) {
  std::vector<fs::path> directories;
  while (!path.empty()) {
    const std::string_view directory = path.substr(0, path.find(':'));
    path.remove_prefix(std::min(path.size(), directory.size() + 1));
    if (!directory.empty()) directories.emplace_back(directory);
  }
  return directories;
}

bool SameFile(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

/// The "2" of "limactl version 2.2.0".
std::optional<int> MajorVersion(std::string_view version) {
  const std::string_view number = version.substr(version.rfind(' ') + 1);
  int major = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), major);
  const bool is_number =
      error == std::errc() && end != number.data() + number.size() && *end == '.';
  return is_number ? std::optional(major) : std::nullopt;
}

std::vector<fs::path> PluginDirectories(const std::optional<fs::path>& limactl,
                                        const std::string& path) {
  std::vector<fs::path> own;
  if (limactl) {
    std::error_code error;
    own.push_back(fs::absolute(*limactl).parent_path());
    const fs::path resolved = fs::canonical(*limactl, error);
    if (!error && resolved.parent_path() != own.front()) own.push_back(resolved.parent_path());
  }
  std::vector<fs::path> directories = own;
  for (fs::path& directory : SplitPath(path)) directories.push_back(std::move(directory));
  for (const fs::path& directory : own) {
    directories.push_back(directory.parent_path() / "libexec" / "lima");
    directories.push_back(directory.parent_path() / "lib" / "lima");
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

std::vector<fs::path> FindPlugins(const std::optional<fs::path>& limactl, const std::string& path) {
  std::vector<fs::path> plugins;
  for (const fs::path& directory : PluginDirectories(limactl, path)) {
    const fs::path candidate = directory / kPluginName;
    const bool known = std::any_of(plugins.begin(), plugins.end(), [&](const fs::path& plugin) {
      return SameFile(plugin, candidate);
    });
    if (!known && IsExecutable(candidate)) plugins.push_back(candidate);
  }
  return plugins;
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

fs::path ParentProgram() {
#ifdef __APPLE__
  std::array<char, PROC_PIDPATHINFO_MAXSIZE> buffer{};
  const int size = ::proc_pidpath(::getppid(), buffer.data(), PROC_PIDPATHINFO_MAXSIZE);
  return size > 0 ? fs::path(buffer.data()) : fs::path();
#else
  std::error_code unknown;
  return fs::read_symlink("/proc/" + std::to_string(::getppid()) + "/exe", unknown);
#endif
}

Finding CheckLimactl(const std::optional<fs::path>& limactl, const support::Context& context) {
  if (!limactl) return Failed("no limactl on PATH", kInstallLima);
  Child child({limactl->string(), "--version"});
  const std::string version = child.ReadLine(context).value_or("");
  if (const int exit_code = child.Finish(context); exit_code != 0) {
    return Failed(limactl->string() + " --version exits with status " + std::to_string(exit_code) +
                      ": " + child.LastWords(),
                  ::geteuid() == 0 ? "run this as the user who owns the instance" : kInstallLima);
  }
  const std::string found = version + " (" + limactl->string() + ")";
  const std::optional<int> major = MajorVersion(version);
  if (!major) return Warning(found + " is not a release", "use Lima 2.0 or later");
  if (*major < kFirstMajorWithPlugins) {
    return Failed(found + " is too old to have plugins", kInstallLima);
  }
  return Passed(found);
}

Finding CheckPlugin(const std::vector<fs::path>& plugins, const fs::path& own_program) {
  if (plugins.empty()) {
    return Failed("limactl does not find this program (" + own_program.string() + ")",
                  "put it, or a link to it, into a directory on PATH, such as /usr/local/bin");
  }
  if (SameFile(plugins.front(), own_program)) {
    return Passed("`limactl mcp` runs this program, " + plugins.front().string());
  }
  return Failed("`limactl mcp` runs another program, " + plugins.front().string() + ", not " +
                    own_program.string(),
                "remove that file, or put this program before it: limactl looks in its own "
                "directory, then along PATH, then in libexec/lima");
}

}  // namespace doctor
