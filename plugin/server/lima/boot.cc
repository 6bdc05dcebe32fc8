// SPDX-License-Identifier: Apache-2.0
#include "lima/boot.h"

#include <sys/stat.h>
#ifdef __APPLE__
#include <sys/sysctl.h>
#include <sys/time.h>
#endif

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "support/errors.h"
#include "support/files.h"

namespace lima {
namespace {

using std::chrono::system_clock;

/// /proc/stat has a line for each processor, and a long one of interrupts.
constexpr std::size_t kMaxSystemFile = std::size_t{4} * 1024 * 1024;

/// Without white space at its end. Empty if it cannot be read.
std::string TextOf(const std::filesystem::path& file) {
  try {
    std::string text = support::ReadFile(file, kMaxSystemFile).value_or("");
    text.erase(text.find_last_not_of(" \t\r\n") + 1);
    return text;
  } catch (const support::Error&) {
    return "";
  }
}

}  // namespace

Boot ThisBoot() {
  Boot boot;
#ifdef __APPLE__
  std::array<char, 64> id{};
  std::size_t size = id.size() - 1;
  if (::sysctlbyname("kern.bootsessionuuid", id.data(), &size, nullptr, 0) == 0)
    boot.id = id.data();
  struct timeval start {};
  size = sizeof(start);
  if (::sysctlbyname("kern.boottime", &start, &size, nullptr, 0) == 0)
    boot.start = system_clock::from_time_t(start.tv_sec);
#else
  boot.id = TextOf("/proc/sys/kernel/random/boot_id");
  const std::string statistics = TextOf("/proc/stat");
  constexpr std::string_view kStart = "\nbtime ";
  if (const std::size_t found = statistics.find(kStart); found != std::string::npos) {
    const char* seconds = statistics.c_str() + found + kStart.size();
    boot.start = system_clock::from_time_t(std::strtol(seconds, nullptr, 10));
  }
#endif
  return boot;
}

bool IsOfEarlierBoot(const std::filesystem::path& pid_file, const Boot& boot) {
  struct stat status {};
  if (::stat(pid_file.c_str(), &status) != 0) return false;
  const std::string id = TextOf(pid_file.parent_path() / "boot-session.tmp");
  if (!id.empty() && !boot.id.empty() && id != boot.id) return true;
  return system_clock::from_time_t(status.st_mtime) < boot.start - kBootMargin;
}

}  // namespace lima
