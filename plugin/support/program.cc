// SPDX-License-Identifier: Apache-2.0
#include "support/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

#include "support/errors.h"

#ifdef __APPLE__
#include <mach-o/dyld.h>

#include <array>
#include <cstdint>
#endif

namespace support {

namespace fs = std::filesystem;

std::optional<fs::path> FindProgram(const std::string& name, const std::string& path) {
  std::istringstream directories(path);
  for (std::string directory; std::getline(directories, directory, ':');) {
    const fs::path program = fs::path(directory) / name;
    struct stat status {};
    const bool is_file = ::stat(program.c_str(), &status) == 0 && S_ISREG(status.st_mode);
    // root may access a file that is not executable.
    const bool is_executable = (status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
    if (!directory.empty() && is_file && is_executable && ::access(program.c_str(), X_OK) == 0) {
      return program;
    }
  }
  return std::nullopt;
}

fs::path OwnProgram() {
#ifdef __APPLE__
  std::array<char, 4096> buffer{};
  auto size = static_cast<std::uint32_t>(buffer.size());
  if (_NSGetExecutablePath(buffer.data(), &size) != 0) {
    throw Error("the path of this program is longer than 4095 bytes");
  }
  return buffer.data();
#else
  return fs::read_symlink("/proc/self/exe");
#endif
}

}  // namespace support
