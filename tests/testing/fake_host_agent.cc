#include "testing/fake_host_agent.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

namespace testing_support {
namespace {

using support::FileDescriptor;

void Answer(int listener, std::string_view answer) {
  const FileDescriptor connection(::accept(listener, nullptr, nullptr));
  if (!connection.valid()) return;
  std::array<char, 4096> request{};
  ssize_t count = ::read(connection.get(), request.data(), request.size());
  while (count > 0 && !answer.empty()) {
    count = ::write(connection.get(), answer.data(), answer.size());
    if (count > 0) answer.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace

SilentHostAgent::SilentHostAgent(const std::filesystem::path& socket)
    : listener_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
  ::signal(SIGPIPE, SIG_IGN);  // clients may go away while they are answered
  struct sockaddr_un address {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket.c_str(), sizeof(address.sun_path) - 1);
  if (::fcntl(listener_.get(), F_SETFD, FD_CLOEXEC) != 0 ||
      ::bind(listener_.get(), reinterpret_cast<const struct sockaddr*>(&address),
             sizeof(address)) != 0 ||
      ::listen(listener_.get(), 1) != 0) {
    throw std::system_error(errno, std::generic_category(), socket.string());
  }
}

FakeHostAgent::FakeHostAgent(const std::filesystem::path& socket, std::string answer)
    : socket_(socket) {
  thread_ = std::thread([this, text = std::move(answer)] { Serve(text); });
}

FakeHostAgent::~FakeHostAgent() {
  stop_.Wake();
  thread_.join();
}

void FakeHostAgent::Serve(const std::string& answer) const {
  while (true) {
    std::array<pollfd, 2> polled = {{{stop_.fd(), POLLIN, 0}, {socket_.listener(), POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    if (polled[0].revents != 0) return;
    if (polled[1].revents != 0) Answer(socket_.listener(), answer);
  }
}

}  // namespace testing_support
