#include "support/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
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
#include "support/wake_pipe.h"

namespace support {
namespace {

/// How late a deadline or a program's exit may be noticed.
constexpr int kPollMilliseconds = 10;

}  // namespace

Child::Child(const std::vector<std::string>& command) : error_(std::tmpfile(), &std::fclose) {
  if (!error_) throw std::system_error(errno, std::generic_category(), "temporary file");
  ::fcntl(::fileno(error_.get()), F_SETFD, FD_CLOEXEC);
  Pipe input;
  Pipe output;
  try {
    pid_ = Spawn(command, {input.read_end.get(), output.write_end.get(), ::fileno(error_.get())},
                 SpawnSession::kShared);
  } catch (const std::system_error& problem) {
    throw CallError(command.front() + " cannot be started: " + problem.code().message());
  }
  input_ = std::move(input.write_end);
  output_ = std::move(output.read_end);
}

Child::~Child() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Child::Write(std::string_view text) {
  (void)!::write(input_.get(), text.data(), text.size());
}

std::optional<std::string> Child::ReadLine(const Context& context) {
  while (true) {
    if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    context.ThrowIfStopped();
    pollfd polled{output_.get(), POLLIN, 0};
    if (::poll(&polled, 1, kPollMilliseconds) <= 0) continue;
    std::array<char, 65536> buffer{};
    const ssize_t count = ::read(output_.get(), buffer.data(), buffer.size());
    if (count <= 0) return std::nullopt;
    received_.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

int Child::Finish(const Context& context) {
  CloseInput();
  if (pid_ < 0) return exit_code_;
  while (ReadLine(context)) {
  }
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(pid_, &status, WNOHANG)) == 0) {
    Pause(std::chrono::milliseconds(kPollMilliseconds), context);
  }
  pid_ = -1;
  // There is no status if this program was started with SIGCHLD ignored.
  if (ended > 0) exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return exit_code_;
}

std::string Child::ErrorText() const {
  constexpr off_t kKeptBytes = 2048;
  const int file = ::fileno(error_.get());
  struct stat status {};
  if (::fstat(file, &status) != 0) return "";
  std::array<char, kKeptBytes> buffer{};
  const ssize_t count =
      ::pread(file, buffer.data(), buffer.size(), std::max<off_t>(0, status.st_size - kKeptBytes));
  return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(0, count))};
}

}  // namespace support
