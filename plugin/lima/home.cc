#include "lima/home.h"

#include <algorithm>
#include <system_error>

#include "lima/configuration_error.h"
#include "lima/instance_name.h"
#include "support/environment.h"

namespace lima {
namespace {

std::filesystem::path ConfigurationOf(const std::filesystem::path& instance_directory) {
  return instance_directory / "lima.yaml";
}

bool IsInstanceName(const std::string& name) {
  try {
    CheckInstanceName(name);
    return true;
  } catch (const ConfigurationError&) {
    return false;
  }
}

}  // namespace

std::filesystem::path HomeDirectory() {
  return HomeDirectory(support::EnvironmentVariable("LIMA_HOME"),
                       support::EnvironmentVariable("HOME"));
}

std::filesystem::path HomeDirectory(const std::string& lima_home, const std::string& user_home) {
  if (lima_home.empty() && user_home.empty()) {
    throw ConfigurationError("neither LIMA_HOME nor HOME is set: cannot find Lima's instances");
  }
  std::filesystem::path directory = lima_home.empty() ? std::filesystem::path(user_home) / ".lima"
                                                      : std::filesystem::path(lima_home);
  if (!directory.is_absolute()) {
    throw ConfigurationError("Lima's home " + directory.string() +
                             " is a relative path: set LIMA_HOME to an absolute one");
  }
  std::error_code error;
  if (!std::filesystem::exists(directory, error) && !error) return directory;
  std::filesystem::path resolved = std::filesystem::canonical(directory, error);
  if (error) {
    throw ConfigurationError("cannot use Lima's home " + directory.string() + ": " +
                             error.message());
  }
  return resolved;
}

std::filesystem::path InstanceDirectory(const std::filesystem::path& home,
                                        const std::string& name) {
  CheckInstanceName(name);
  return home / name;
}

std::vector<std::string> ListInstances(const std::filesystem::path& home) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(home, error);
  if (error == std::errc::no_such_file_or_directory) return names;
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::error_code unreadable;
    const bool is_directory =
        entry->symlink_status(unreadable).type() == std::filesystem::file_type::directory;
    std::string name = entry->path().filename().string();
    if (is_directory && IsInstanceName(name) &&
        std::filesystem::exists(ConfigurationOf(entry->path()), unreadable)) {
      names.push_back(std::move(name));
    }
  }
  if (error) {
    throw ConfigurationError("cannot read Lima's home " + home.string() + ": " + error.message());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool InstanceExists(const std::filesystem::path& home, const std::string& name) {
  const std::filesystem::path file = ConfigurationOf(InstanceDirectory(home, name));
  std::error_code error;
  const bool exists = std::filesystem::exists(file, error);
  if (error) throw ConfigurationError("cannot read " + file.string() + ": " + error.message());
  return exists;
}

}  // namespace lima
