// SPDX-License-Identifier: Apache-2.0
#include "lima/status.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "lima/boot.h"
#include "support/errors.h"
#include "support/file_descriptor.h"
#include "support/files.h"
#include "support/format.h"
#include "support/printable.h"
#include "support/regex.h"

namespace lima {
namespace {

using Clock = std::chrono::steady_clock;

// HTTP/1.0: the response is not chunked and ends with the connection.
constexpr std::string_view kRequest = "GET /v1/info HTTP/1.0\r\nHost: lima-hostagent\r\n\r\n";

/// There is no socket, or no process listens to it.
class NobodyListens : public support::Error {
 public:
  using Error::Error;
};

constexpr const char* kUnusable = "the host agent's {} cannot be used: {}";

[[noreturn]] void ThrowUnusable(const std::filesystem::path& socket, const std::string& why) {
  throw support::Error(kUnusable, socket.string(), why);
}

[[noreturn]] void ThrowSystemError(const std::filesystem::path& socket) {
  if (errno == ENOENT || errno == ECONNREFUSED)
    throw NobodyListens(kUnusable, socket.string(), std::strerror(errno));
  const bool is_late = errno == EAGAIN || errno == EWOULDBLOCK;
  ThrowUnusable(socket, is_late ? "it does not respond in time" : std::strerror(errno));
}

/// A connected socket whose operations wait for at most `timeout` each.
support::FileDescriptor OpenSocket(const std::filesystem::path& socket,
                                   std::chrono::milliseconds timeout) {
  const std::string& path = socket.native();
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) ThrowUnusable(socket, "its path is too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  support::FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM, 0));
  const auto microseconds = std::chrono::microseconds(timeout).count();
  struct timeval limit {};
  limit.tv_sec = static_cast<decltype(limit.tv_sec)>(microseconds / 1'000'000);
  limit.tv_usec = static_cast<decltype(limit.tv_usec)>(microseconds % 1'000'000);
  ::fcntl(fd.get(), F_SETFD, FD_CLOEXEC);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));  // of connect(), too
#ifdef SO_NOSIGPIPE
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on));
#endif
  const auto* generic = reinterpret_cast<const struct sockaddr*>(&address);
  if (::connect(fd.get(), generic, sizeof(address)) != 0) ThrowSystemError(socket);
  return fd;
}

constexpr std::size_t kMaxPidFile = 4096;

/// Returns false if there is no file. Throws support::Error for a file without a process id.
bool NamesLiveProcess(const std::filesystem::path& pid_file) {
  const auto text = support::ReadFile(pid_file, kMaxPidFile);
  if (!text.has_value()) return false;
  pid_t pid = 0;
  // kill() takes zero for a process group.
  if (!support::Regex(R"(\s*(\d+)\s*)").FullMatch(*text, &pid) || pid == 0)
    throw support::Error("{} does not hold a process id", pid_file.string());
  return ::kill(pid, 0) == 0 || errno == EPERM;
}

/// Whether the driver lives. Empty if no file tells: external drivers and WSL2 write none.
std::optional<bool> DriverLives(const std::filesystem::path& directory,
                                const std::optional<std::string>& vm_type, bool trusts_old_files) {
  bool may_lack_file = vm_type && *vm_type != "qemu" && *vm_type != "vz" && *vm_type != "krunkit";
  bool has_died = false;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.ends_with(".pid") || name == "ha.pid") continue;
    if (name.ends_with(".drv.pid")) {
      may_lack_file = true;
    } else if (!trusts_old_files && IsOfEarlierBoot(entry->path())) {
      has_died = true;
    } else if (NamesLiveProcess(entry->path())) {
      return true;
    } else {
      has_died = true;
    }
  }
  if (error) throw support::Error("cannot read {}: {}", directory.string(), error.message());
  if (may_lack_file && !has_died) return std::nullopt;
  return false;
}

/// Whether the host agent lives; throws support::Error if it does not answer. If its pid file
/// `is_old`, only the socket tells.
bool AgentLives(const std::filesystem::path& directory, bool is_old) {
  if (!is_old && !NamesLiveProcess(directory / "ha.pid")) return false;
  try {
    (void)QueryHostAgent(directory / "ha.sock");
    return true;
  } catch (const NobodyListens&) {
    if (is_old) return false;
    throw;
  }
}

Status Inspect(const std::filesystem::path& directory, const std::optional<std::string>& vm_type) {
  const bool is_old = IsOfEarlierBoot(directory / "ha.pid");
  const bool agent_lives = AgentLives(directory, is_old);
  // An agent that answers was started in this boot, so the clock was set since.
  const auto driver_lives = DriverLives(directory, vm_type, agent_lives && is_old);
  if (agent_lives && driver_lives.value_or(true)) return {State::kRunning, ""};
  if (!agent_lives && !driver_lives.value_or(false)) return {State::kStopped, ""};
  return {State::kBroken, agent_lives ? "the host agent is running but the driver is not"
                                      : "the driver is running but the host agent is not"};
}

}  // namespace

int QueryHostAgent(const std::filesystem::path& socket, std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  const support::FileDescriptor fd = OpenSocket(socket, timeout);
  if (::send(fd.get(), kRequest.data(), kRequest.size(), support::kNoSigpipe) < 0)
    ThrowSystemError(socket);
  std::string response;
  std::array<char, 4096> piece{};
  while (const ssize_t count = ::recv(fd.get(), piece.data(), piece.size(), 0)) {
    if (count < 0) ThrowSystemError(socket);
    response.append(piece.data(), static_cast<std::size_t>(count));
    if (Clock::now() >= deadline) ThrowUnusable(socket, "it does not respond in time");
  }
  std::string body;
  (void)support::Regex(R"((?s)HTTP/1\.\d 2.*?\r\n\r\n(.*))").FullMatch(response, &body);
  try {
    return nlohmann::json::parse(body).value("sshLocalPort", 0);
  } catch (const nlohmann::json::exception&) {
    ThrowUnusable(
        socket, support::Format("it responds \"{}\"", support::Printable(response.substr(0, 100))));
  }
}

Status InspectStatus(const std::filesystem::path& instance_directory,
                     const std::optional<std::string>& vm_type) {
  try {
    return Inspect(instance_directory, vm_type);
  } catch (const support::Error& error) {
    return {State::kBroken, error.what()};
  }
}

}  // namespace lima
