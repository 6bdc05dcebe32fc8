#include "lima/status.h"

#include <re2/re2.h>
#include <sys/types.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "lima/configuration_error.h"
#include "lima/host_agent.h"
#include "lima/text_file.h"

namespace lima {
namespace {

constexpr std::size_t kMaxPidFile = 4096;

/// Returns false if there is no file. Throws ConfigurationError for a file without a process id.
bool NamesLiveProcess(const std::filesystem::path& pid_file) {
  const auto text = ReadTextFile(pid_file, kMaxPidFile);
  if (!text.has_value()) return false;
  pid_t pid = 0;
  // kill() takes zero for a process group.
  if (!re2::RE2::FullMatch(*text, R"(\s*(\d+)\s*)", &pid) || pid == 0) {
    throw ConfigurationError(pid_file.string() + " does not hold a process id");
  }
  return ::kill(pid, 0) == 0 || errno == EPERM;
}

enum class Driver { kAlive, kDead, kCannotTell };

/// True for Lima's own drivers that always write a pid file.
bool WritesPidFile(const std::optional<std::string>& vm_type) {
  return !vm_type.has_value() || *vm_type == "qemu" || *vm_type == "vz" || *vm_type == "krunkit";
}

Driver InspectDriver(const std::filesystem::path& directory,
                     const std::optional<std::string>& vm_type) {
  bool has_external_driver = false;
  bool has_pid_file = false;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.ends_with(".pid") || name == "ha.pid") continue;
    if (name.ends_with(".drv.pid")) {
      has_external_driver = true;
    } else {
      has_pid_file = true;
      if (NamesLiveProcess(entry->path())) return Driver::kAlive;
    }
  }
  if (error) {
    throw ConfigurationError("cannot read " + directory.string() + ": " + error.message());
  }
  if (has_pid_file) return Driver::kDead;
  return has_external_driver || !WritesPidFile(vm_type) ? Driver::kCannotTell : Driver::kDead;
}

Status Inspect(const std::filesystem::path& directory, const std::optional<std::string>& vm_type) {
  const bool agent_lives = NamesLiveProcess(directory / "ha.pid");
  const Driver driver = InspectDriver(directory, vm_type);
  if (!agent_lives) {
    if (driver != Driver::kAlive) return {State::kStopped, ""};
    return {State::kBroken, "the driver is running but the host agent is not"};
  }
  const std::filesystem::path socket = directory / "ha.sock";
  try {
    QueryHostAgent(socket);
  } catch (const HostAgentError& error) {
    return {State::kBroken,
            "the host agent is alive, but " + socket.string() + " cannot be used: " + error.what()};
  }
  if (driver != Driver::kDead) return {State::kRunning, ""};
  return {State::kBroken, "the host agent is running but the driver is not"};
}

}  // namespace

Status InspectStatus(const std::filesystem::path& instance_directory,
                     const std::optional<std::string>& vm_type) {
  try {
    return Inspect(instance_directory, vm_type);
  } catch (const ConfigurationError& error) {
    return {State::kBroken, error.what()};
  }
}

}  // namespace lima
