#include "doctor/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

#include "support/errors.h"
#include "support/spawn.h"
#include "support/utf8.h"

namespace doctor {
namespace {

using support::FileDescriptor;

constexpr int kEndPollMilliseconds = 5;

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

Pipe MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  Pipe pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
  for (const int end : ends) {
    if (::fcntl(end, F_SETFD, FD_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "pipe");
    }
  }
  return pipe;
}

int MillisecondsLeft(const support::Context& context) {
  context.ThrowIfStopped();
  constexpr std::chrono::milliseconds kLongest{1000};  // then it is looked again
  // It may have passed by now, and poll() waits for ever for less than nothing.
  const auto left = std::clamp<support::Clock::duration>(
      context.deadline() - support::Clock::now(), support::Clock::duration::zero(), kLongest);
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
}

}  // namespace

Child::Child(const std::vector<std::string>& command) {
  Pipe input = MakePipe();
  Pipe output = MakePipe();
  Pipe error = MakePipe();
  if (::fcntl(input.write.get(), F_SETFL, O_NONBLOCK) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  try {
    pid_ = support::Spawn(command, {input.read.get(), output.write.get(), error.write.get()},
                          support::SpawnSession::kShared);
  } catch (const std::system_error& problem) {
    throw support::CallError(command.front() + " cannot be started: " + problem.code().message());
  }
  input_ = std::move(input.write);
  output_ = std::move(output.read);
  error_ = std::move(error.read);
}

Child::~Child() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Child::Pump(short input_events, const support::Context& context) {
  std::array<pollfd, 3> polled = {{{input_events != 0 ? input_.get() : -1, input_events, 0},
                                   {output_.get(), POLLIN, 0},
                                   {error_.get(), POLLIN, 0}}};
  if (::poll(polled.data(), polled.size(), MillisecondsLeft(context)) < 0 && errno != EINTR) {
    throw std::system_error(errno, std::generic_category(), "poll");
  }
  const auto drain = [](FileDescriptor& from, short events, std::string& into) {
    if (events == 0) return;
    std::array<char, 65536> buffer{};
    const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
    if (count > 0) into.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) from.Close();
  };
  drain(output_, polled[1].revents, received_);
  drain(error_, polled[2].revents, error_text_);
  if (error_text_.size() > kKeptErrorText) {
    error_text_.erase(0, error_text_.size() - kKeptErrorText);
  }
}

bool Child::Write(std::string_view text, const support::Context& context) {
  while (!text.empty()) {
    const ssize_t count = ::write(input_.get(), text.data(), text.size());
    if (count > 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN || errno == EINTR) {
      Pump(POLLOUT, context);
    } else {
      return false;
    }
  }
  return true;
}

std::optional<std::string> Child::ReadLine(const support::Context& context) {
  while (true) {
    const std::size_t end = received_.find('\n');
    if (end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    if (received_.size() > kMaximumChildLine)
      throw support::CallError("its output has no line end");
    if (!output_.valid()) return std::nullopt;
    Pump(0, context);
  }
}

int Child::Finish(const support::Context& context) {
  CloseInput();
  while (output_.valid() || error_.valid()) {
    Pump(0, context);
    received_.clear();
  }
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(pid_, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
    ::poll(nullptr, 0, std::min(kEndPollMilliseconds, MillisecondsLeft(context)));
  }
  pid_ = -1;
  if (ended < 0) return 0;  // started with SIGCHLD ignored: nobody keeps an exit status
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string Child::LastWords() const {
  std::string words = support::ToUtf8(error_text_);
  while (words.ends_with('\n')) words.pop_back();
  std::replace(words.begin(), words.end(), '\n', ' ');
  return words;
}

}  // namespace doctor
