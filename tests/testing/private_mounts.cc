// SPDX-License-Identifier: Apache-2.0
#include "testing/private_mounts.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#ifdef __linux__
#include <sched.h>
#include <sys/mount.h>
#endif

#include "support/file_descriptor.h"
#include "testing/throw_errno.h"

namespace testing_support {
namespace {

#ifdef __linux__

std::string ErrorText(const std::string& what) {
  return what + ": " + std::generic_category().message(errno);
}

bool WriteOnce(const char* path, const std::string& text) {
  const support::FileDescriptor file(::open(path, O_WRONLY | O_CLOEXEC));
  return file.valid() &&
         ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// Users keep their numbers in the namespace, so that sshd does not notice.
std::string EnterUserNamespace() {
  const std::string user = std::to_string(::getuid());
  const std::string group = std::to_string(::getgid());
  if (::unshare(CLONE_NEWUSER) != 0) return ErrorText("no user namespace");
  std::string user_map = user;
  user_map.append(" ").append(user).append(" 1");
  std::string group_map = group;
  group_map.append(" ").append(group).append(" 1");
  if (!WriteOnce("/proc/self/setgroups", "deny") || !WriteOnce("/proc/self/uid_map", user_map) ||
      !WriteOnce("/proc/self/gid_map", group_map)) {
    return ErrorText("no mapping of users");
  }
  return "";
}
#endif

}  // namespace

#ifdef __linux__

std::string EnterPrivateMounts() {
  static bool entered = false;
  if (entered) return "";
  if (::getuid() != 0) {
    if (std::string problem = EnterUserNamespace(); !problem.empty()) return problem;
  }
  if (::unshare(CLONE_NEWNS) != 0) return ErrorText("no mount namespace");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return ErrorText("cannot make the mounts private");
  }
  entered = true;
  return "";
}

SmallFileSystem::SmallFileSystem(std::filesystem::path directory, std::uint64_t bytes)
    : directory_(std::move(directory)) {
  const std::string options = "mode=777,size=" + std::to_string(bytes);
  if (::mount("tmpfs", directory_.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0) {
    ThrowErrno("mount " + directory_.string());
  }
}

SmallFileSystem::~SmallFileSystem() {
  ::umount2(directory_.c_str(), MNT_DETACH);
}

void SetReadOnly(const std::filesystem::path& mount, bool read_only) {
  // With MS_BIND only this mount changes, not the file system.
  unsigned long flags = MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV;
  if (read_only) flags |= MS_RDONLY;
  if (::mount(nullptr, mount.c_str(), nullptr, flags, nullptr) != 0) {
    ThrowErrno("remount " + mount.string());
  }
}

#else

std::string EnterPrivateMounts() {
  return "this system has no private mounts";
}

SmallFileSystem::SmallFileSystem(std::filesystem::path directory, std::uint64_t)
    : directory_(std::move(directory)) {
  throw std::system_error(ENOTSUP, std::generic_category(), "mount " + directory_.string());
}

SmallFileSystem::~SmallFileSystem() = default;

void SetReadOnly(const std::filesystem::path& mount, bool) {
  throw std::system_error(ENOTSUP, std::generic_category(), "remount " + mount.string());
}

#endif

}  // namespace testing_support
