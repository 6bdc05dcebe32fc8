#include "lima/host.h"

#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "lima/configuration_error.h"
#include "support/environment.h"

namespace lima {
namespace {

std::string LoginName(uid_t uid) {
  // Entries of directory services can be large; the call says when the room is too small.
  std::vector<char> room(1024);
  struct passwd entry {};
  struct passwd* found = nullptr;
  int error = 0;
  constexpr std::size_t kMaximumRoom = std::size_t{1024} * 1024;
  while ((error = ::getpwuid_r(uid, &entry, room.data(), room.size(), &found)) == ERANGE &&
         room.size() < kMaximumRoom) {
    room.resize(room.size() * 2);
  }
  if (error == 0 && found != nullptr) return found->pw_name;
  std::string name = support::EnvironmentVariable("USER");
  if (name.empty()) {
    throw ConfigurationError("user " + std::to_string(uid) +
                             " has no entry in the user database, and USER is not set");
  }
  return name;
}

/// Empty where the system does not tell.
std::string Architecture() {
  struct utsname names {};
  if (::uname(&names) != 0) return {};
  const std::string machine = names.machine;
  return machine == "arm64" ? "aarch64" : machine;  // macOS says the former
}

}  // namespace

HostFacts ReadHostFacts() {
  HostFacts facts;
  facts.home = support::EnvironmentVariable("HOME");
  if (!facts.home.starts_with('/')) {
    throw ConfigurationError("HOME is not set to an absolute path");
  }
  facts.uid = ::getuid();
  facts.user = LoginName(::getuid());
  facts.temp_dir = support::EnvironmentVariable("TMPDIR");
  if (facts.temp_dir.empty()) facts.temp_dir = "/tmp";
  facts.arch = Architecture();
#ifdef __APPLE__
  facts.vm_type = "vz";
#endif
  return facts;
}

}  // namespace lima
