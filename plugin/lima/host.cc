#include "lima/host.h"

#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>

#include "lima/text_file.h"
#include "support/environment.h"

namespace lima {
namespace {

std::string LoginName(uid_t uid) {
  std::array<char, 65536> buffer{};  // entries of directory services can be large
  struct passwd entry {};
  struct passwd* found = nullptr;
  ::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) {
    throw ConfigurationError("user " + std::to_string(uid) +
                             " is not in the user database; add it");
  }
  return found->pw_name;
}

/// Empty if unknown.
std::string Architecture() {
  struct utsname names {};
  if (::uname(&names) != 0) return {};
  const std::string machine = names.machine;
  return machine == "arm64" ? "aarch64" : machine;  // macOS reports arm64
}

}  // namespace

HostFacts ReadHostFacts() {
  HostFacts facts;
  facts.home = support::EnvironmentVariable("HOME");
  if (!facts.home.starts_with('/')) throw ConfigurationError("set HOME to an absolute path");
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
