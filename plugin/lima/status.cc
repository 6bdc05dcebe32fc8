#include "lima/status.h"

#include <fcntl.h>
#include <re2/re2.h>
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

#include "lima/text_file.h"
#include "support/file_descriptor.h"

namespace lima {
namespace {

using Clock = std::chrono::steady_clock;

// HTTP/1.0: the response is not chunked and ends with the connection.
constexpr std::string_view kRequest = "GET /v1/info HTTP/1.0\r\nHost: lima-hostagent\r\n\r\n";

#ifdef MSG_NOSIGNAL
constexpr int kSendFlags = MSG_NOSIGNAL;
#else
constexpr int kSendFlags = 0;  // macOS has SO_NOSIGPIPE instead
#endif

[[noreturn]] void ThrowSystemError(const std::string& what) {
  if (errno == EAGAIN || errno == EWOULDBLOCK) throw HostAgentError("it does not respond in time");
  throw HostAgentError(what + ": " + std::generic_category().message(errno));
}

/// A connected socket whose operations wait for at most `timeout` each.
support::FileDescriptor Connect(const std::string& path, std::chrono::milliseconds timeout) {
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) throw HostAgentError("its path is too long");
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
  if (::connect(fd.get(), generic, sizeof(address)) != 0) ThrowSystemError("cannot connect");
  return fd;
}

std::string Receive(int fd, Clock::time_point deadline) {
  std::string response;
  std::array<char, 4096> piece{};
  while (true) {
    const ssize_t count = ::recv(fd, piece.data(), piece.size(), 0);
    if (count == 0) return response;
    if (count < 0) ThrowSystemError("cannot receive from it");
    response.append(piece.data(), static_cast<std::size_t>(count));
    if (response.size() > kMaxHostAgentResponse) throw HostAgentError("its response is incomplete");
    if (Clock::now() >= deadline) throw HostAgentError("it does not respond in time");
  }
}

/// The body of a 2xx response.
std::string_view SuccessfulBody(std::string_view response) {
  constexpr std::string_view kEndOfHead = "\r\n\r\n";
  const std::size_t end = response.find(kEndOfHead);
  const bool is_http = response.starts_with("HTTP/1.") && end != std::string_view::npos;
  if (!is_http) throw HostAgentError("its response is not HTTP");
  const std::string_view status_line = response.substr(0, response.find("\r\n"));
  if (status_line.find(" 2") != status_line.find(' ')) {
    throw HostAgentError("it responds \"" + std::string(status_line.substr(0, 100)) + "\"");
  }
  return response.substr(end + kEndOfHead.size());
}

std::uint16_t ParseSshPort(std::string_view body) {
  const nlohmann::json info = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!info.is_object()) throw HostAgentError("its response is not a JSON object");
  const auto port = info.find("sshLocalPort");
  if (port == info.end()) return 0;
  if (!port->is_number_unsigned() || port->get<std::uint64_t>() > 65535) {
    throw HostAgentError("its response has no valid sshLocalPort");
  }
  return port->get<std::uint16_t>();
}

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

std::uint16_t QueryHostAgent(const std::filesystem::path& socket,
                             std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  const support::FileDescriptor fd = Connect(socket.string(), timeout);
  if (::send(fd.get(), kRequest.data(), kRequest.size(), kSendFlags) != std::ssize(kRequest)) {
    ThrowSystemError("cannot send to it");
  }
  return ParseSshPort(SuccessfulBody(Receive(fd.get(), deadline)));
}

Status InspectStatus(const std::filesystem::path& instance_directory,
                     const std::optional<std::string>& vm_type) {
  try {
    return Inspect(instance_directory, vm_type);
  } catch (const ConfigurationError& error) {
    return {State::kBroken, error.what()};
  }
}

}  // namespace lima
