// SPDX-License-Identifier: Apache-2.0
#include "lima/home.h"

#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "lima/sandbox.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/join.h"
#include "support/regex.h"
#include "support/words.h"

namespace lima {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigurationFile = "lima.yaml";

bool IsInstanceName(std::string_view name) {
  static const support::Regex identifier("[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*");
  const std::string lower = support::LowerCase(name);
  return name.size() <= kMaxInstanceName && identifier.FullMatch(name) &&
         !lower.ends_with(".yml") && !lower.ends_with(".yaml");
}

std::string LoginName(uid_t uid) {
  std::array<char, 65536> buffer{};  // entries of directory services can be large
  struct passwd entry {};
  struct passwd* found = nullptr;
  ::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
  if (found == nullptr) {
    throw support::Error("user {} is not in the user database; add it", uid);
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

void CheckInstanceName(std::string_view name) {
  if (IsInstanceName(name)) return;
  throw support::Error("{} is not an instance name; `limactl list` shows the instances",
                       name.size() <= kMaxInstanceName
                           ? support::Format("\"{}\"", name)
                           : support::Format("a text of {} bytes", name.size()));
}

std::string HostnameOf(std::string_view name) {
  std::string hostname = "lima-" + std::string(name);
  std::ranges::replace_if(
      hostname, [](char c) { return c == '.' || c == '_'; }, '-');
  return hostname;
}

fs::path HomeDirectory(const std::string& lima_home, const std::string& user_home) {
  if (lima_home.empty() && user_home.empty()) {
    throw support::Error("cannot find Lima's instances: set LIMA_HOME or HOME");
  }
  const fs::path directory =
      lima_home.empty() ? fs::path(user_home) / ".lima" : fs::path(lima_home);
  if (!directory.is_absolute()) {
    throw support::Error("Lima's home {} is a relative path: set LIMA_HOME to an absolute one",
                         directory.string());
  }
  std::error_code error;
  if (!fs::exists(directory, error) && !error) return directory;
  fs::path resolved = fs::canonical(directory, error);
  if (error)
    throw support::Error("cannot use Lima's home {}: {}", directory.string(), error.message());
  return resolved;
}

std::vector<std::string> ListInstances(const fs::path& home) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(home, error);
  if (error == std::errc::no_such_file_or_directory) return names;
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code unreadable;
    std::string name = entry->path().filename().string();
    if (IsInstanceName(name) && fs::is_directory(entry->symlink_status(unreadable)) &&
        fs::exists(entry->path() / kConfigurationFile, unreadable)) {
      names.push_back(std::move(name));
    }
  }
  if (error) throw support::Error("cannot read Lima's home {}: {}", home.string(), error.message());
  std::sort(names.begin(), names.end());
  return names;
}

void RequireInstance(const fs::path& home, const std::string& name, bool mountless) {
  CheckInstanceName(name);
  const fs::path file = home / name / kConfigurationFile;
  std::error_code error;
  if (fs::exists(file, error)) return;
  if (error) throw support::Error("cannot read {}: {}", file.string(), error.message());
  const std::string known = support::Join(ListInstances(home));
  throw support::Error("there is no Lima instance \"{}\" in {}{}; create it with: {}", name,
                       home.string(),
                       known.empty() ? "" : support::Format("; the instances are: {}", known),
                       mountless || name == kAgentInstance || name == kClosedInstance
                           ? shell::ShellCommand(MountlessSandboxCommand(name))
                           : SandboxCommand(name));
}

HostFacts ReadHostFacts() {
  HostFacts facts;
  facts.home = support::EnvironmentVariable("HOME");
  if (!facts.home.starts_with('/')) throw support::Error("set HOME to an absolute path");
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
