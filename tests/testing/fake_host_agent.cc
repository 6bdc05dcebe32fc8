// SPDX-License-Identifier: Apache-2.0
#include "testing/fake_host_agent.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <utility>

#include "testing/sockets.h"

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

FakeHostAgent::FakeHostAgent(const std::filesystem::path& socket, std::string answer)
    : listener_(ListenOnUnix(socket)), answer_(std::move(answer)) {
  ::signal(SIGPIPE, SIG_IGN);  // clients may go away while they are answered
  thread_ = std::thread([this] { Serve(); });
}

void FakeHostAgent::SetAnswer(std::string answer) {
  const std::scoped_lock lock(mutex_);
  answer_ = std::move(answer);
}

FakeHostAgent::~FakeHostAgent() {
  stop_.Wake();
  thread_.join();
}

void FakeHostAgent::Serve() {
  while (true) {
    std::array<pollfd, 2> polled = {{{stop_.fd(), POLLIN, 0}, {listener_.get(), POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    if (polled[0].revents != 0) return;
    if (polled[1].revents == 0) continue;
    const std::scoped_lock lock(mutex_);
    Answer(listener_.get(), answer_);
  }
}

}  // namespace testing_support
