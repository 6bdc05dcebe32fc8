#include "lima/host_agent.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>

#include "support/file_descriptor.h"
#include "support/lower_case.h"

namespace lima {
namespace {

using Clock = std::chrono::steady_clock;

// HTTP/1.0: the answer never comes in chunks.
constexpr std::string_view kRequest =
    "GET /v1/info HTTP/1.0\r\nHost: lima-hostagent\r\nConnection: close\r\n\r\n";

#ifdef MSG_NOSIGNAL
constexpr int kSendFlags = MSG_NOSIGNAL;
#else
constexpr int kSendFlags = 0;  // macOS: SO_NOSIGPIPE on the socket instead
#endif

[[noreturn]] void ThrowSystemError(const std::string& what, int error) {
  throw HostAgentError(what + ": " + std::generic_category().message(error));
}

constexpr std::string_view kEndOfHead = "\r\n\r\n";

// Whether the body is as long as the head says. An answer without Content-Length ends with the
// stream.
bool IsComplete(std::string_view answer) {
  const std::size_t end = answer.find(kEndOfHead);
  if (end == std::string_view::npos) return false;
  const std::string head = support::LowerCase(answer.substr(0, end));
  constexpr std::string_view kLength = "\r\ncontent-length:";
  const std::size_t field = head.find(kLength);
  if (field == std::string::npos) return false;
  std::string_view digits = std::string_view(head).substr(field + kLength.size());
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  std::size_t length = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
  return error == std::errc() && answer.size() - end - kEndOfHead.size() >= length;
}

// A connection that never waits beyond its deadline. Non-blocking by itself, since a listener that
// does not accept blocks connect() as well.
class Connection {
 public:
  Connection(const std::filesystem::path& path, Clock::time_point deadline)
      : deadline_(deadline), fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    if (!fd_.valid()) ThrowSystemError("cannot make a socket", errno);
    Prepare();
    Connect(path);
  }

  // At most what a new socket takes without waiting, which is a few thousand bytes at least.
  void Send(std::string_view bytes) const {
    if (::send(fd_.get(), bytes.data(), bytes.size(), kSendFlags) != std::ssize(bytes)) {
      ThrowSystemError("cannot send to it", errno);
    }
  }

  [[nodiscard]] std::string ReceiveAnswer() const {
    std::string answer;
    std::array<char, 4096> piece{};
    while (true) {
      const ssize_t count = ::recv(fd_.get(), piece.data(), piece.size(), 0);
      if (count == 0) return answer;
      if (count > 0) {
        answer.append(piece.data(), static_cast<std::size_t>(count));
        if (answer.size() > kMaximumHostAgentAnswer) throw HostAgentError("its answer has no end");
        if (IsComplete(answer)) return answer;
      } else if (!IsTemporary(errno)) {
        ThrowSystemError("cannot receive from it", errno);
      } else {
        WaitForInput();
      }
    }
  }

 private:
  static bool IsTemporary(int error) {
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
  }

  void Prepare() const {
    const int flags = ::fcntl(fd_.get(), F_GETFL);
    if (flags < 0 || ::fcntl(fd_.get(), F_SETFL, flags | O_NONBLOCK) != 0 ||
        ::fcntl(fd_.get(), F_SETFD, FD_CLOEXEC) != 0) {
      ThrowSystemError("cannot prepare a socket", errno);
    }
#ifdef SO_NOSIGPIPE
    const int on = 1;
    if (::setsockopt(fd_.get(), SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof(on)) != 0) {
      ThrowSystemError("cannot prepare a socket", errno);
    }
#endif
  }

  void Connect(const std::filesystem::path& path) const {
    struct sockaddr_un address {};
    address.sun_family = AF_UNIX;
    const std::string& name = path.native();
    if (name.size() >= sizeof(address.sun_path)) throw HostAgentError("its path is too long");
    std::memcpy(address.sun_path, name.data(), name.size());
    // The socket interface takes every kind of address through one pointer type.
    const auto* generic = reinterpret_cast<const struct sockaddr*>(&address);
    while (::connect(fd_.get(), generic, sizeof(address)) != 0) {
      if (errno == EISCONN) return;
      if (!MayConnectSoon(errno)) ThrowSystemError("cannot connect", errno);
      Pause();
    }
  }

  // EAGAIN is Linux's: the listener's queue is full, and there is nothing to wait on. The others
  // are what POSIX allows.
  static bool MayConnectSoon(int error) {
    return error == EAGAIN || error == EINPROGRESS || error == EALREADY || error == EINTR;
  }

  void Pause() const {
    constexpr int kPauseMilliseconds = 20;
    ::poll(nullptr, 0, std::min(kPauseMilliseconds, RemainingMilliseconds()));
  }

  [[nodiscard]] int RemainingMilliseconds() const {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
    if (left <= 0) throw HostAgentError("it does not answer in time");
    return static_cast<int>(
        std::min<std::chrono::milliseconds::rep>(left, std::numeric_limits<int>::max()));
  }

  void WaitForInput() const {
    struct pollfd waiting {
      fd_.get(), POLLIN, 0
    };
    const int ready = ::poll(&waiting, 1, RemainingMilliseconds());
    if (ready < 0 && errno != EINTR) ThrowSystemError("cannot wait for it", errno);
  }

  Clock::time_point deadline_;
  support::FileDescriptor fd_;
};

// The body of a 2xx answer.
std::string_view SuccessfulBody(std::string_view answer) {
  const std::size_t end = answer.find(kEndOfHead);
  const bool is_http = answer.starts_with("HTTP/1.") && end != std::string_view::npos;
  if (!is_http) throw HostAgentError("its answer is not HTTP");
  const std::string_view status_line = answer.substr(0, answer.find("\r\n"));
  const std::size_t code = status_line.find(' ');
  if (code == std::string_view::npos || status_line.substr(code + 1, 1) != "2") {
    throw HostAgentError("it answers \"" + std::string(status_line.substr(0, 100)) + "\"");
  }
  return answer.substr(end + kEndOfHead.size());
}

HostAgentInfo ParseInfo(std::string_view body) {
  const nlohmann::json info = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!info.is_object()) throw HostAgentError("its answer is not a JSON object");
  HostAgentInfo result;
  const auto port = info.find("sshLocalPort");
  if (port == info.end()) return result;
  if (!port->is_number_unsigned() || port->get<std::uint64_t>() > 65535) {
    throw HostAgentError("its answer has no usable sshLocalPort");
  }
  result.ssh_local_port = port->get<std::uint16_t>();
  return result;
}

}  // namespace

HostAgentInfo AskHostAgent(const std::filesystem::path& socket, std::chrono::milliseconds timeout) {
  const Connection connection(socket, Clock::now() + timeout);
  connection.Send(kRequest);
  return ParseInfo(SuccessfulBody(connection.ReceiveAnswer()));
}

}  // namespace lima
