// SPDX-License-Identifier: Apache-2.0
#include "support/child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "support/errors.h"
#include "support/pipe.h"

namespace support {
namespace {

/// Ends with null. Valid as long as `words`.
std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// How late a deadline or a program's exit may be noticed.
constexpr int kPollMilliseconds = 10;

constexpr std::size_t kMaxError = std::size_t{64} << 10;

/// Appends what can be read to `text`. Closes `file` at its end.
void ReadSome(FileDescriptor& file, std::string& text) {
  std::array<char, 65536> buffer{};
  const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
  if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
  if (count == 0 || (count < 0 && errno != EINTR)) file.Close();
}

}  // namespace

pid_t Spawn(const std::vector<std::string>& command, const SpawnStreams& streams,
            const Environment& environment) {
  std::vector<std::string> words = command;
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  int error = ::posix_spawn_file_actions_init(&actions);
  const auto note = [&](int result) { error = error == 0 ? result : error; };
  note(::posix_spawnattr_init(&attributes));
  const auto connect = [&](int from, int to, int mode) {
    note(from < 0 ? ::posix_spawn_file_actions_addopen(&actions, to, "/dev/null", mode, 0)
                  : ::posix_spawn_file_actions_adddup2(&actions, from, to));
  };
  connect(streams.input, STDIN_FILENO, O_RDONLY);
  connect(streams.output, STDOUT_FILENO, O_WRONLY);
  connect(streams.error, STDERR_FILENO, O_WRONLY);
  // Onto itself: it is no longer closed on exec.
  if (streams.inherited >= 0) connect(streams.inherited, streams.inherited, 0);
  if (!streams.directory.empty()) {
    note(::posix_spawn_file_actions_addchdir_np(&actions, streams.directory.c_str()));
  }
  // This program ignores or blocks these signals; the child must not.
  sigset_t signals{};
  sigemptyset(&signals);
  note(::posix_spawnattr_setsigmask(&attributes, &signals));
  for (const int number : {SIGPIPE, SIGXFSZ, SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
  note(::posix_spawnattr_setsigdefault(&attributes, &signals));
  int flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
  if (streams.own_session) flags |= POSIX_SPAWN_SETSID;
#ifdef __APPLE__
  // Without pipe2() another thread's descriptor may not be close-on-exec yet.
  flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
  note(::posix_spawnattr_setflags(&attributes, static_cast<short>(flags)));
  pid_t pid = -1;
  if (error == 0) {
    error = ::posix_spawnp(&pid, words.front().c_str(), &actions, &attributes,
                           Pointers(words).data(), Pointers(variables).data());
  }
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), words.front());
  return pid;
}

Child::Child(const std::vector<std::string>& command, SpawnStreams streams,
             const Environment& environment) {
  Pipe input;
  Pipe output;
  Pipe error;
  if (streams.input == kPipe) {
    streams.input = input.read_end.get();
    input_ = std::move(input.write_end);
    ::fcntl(input_.get(), F_SETFL, O_NONBLOCK);
  }
  if (streams.output == kPipe) {
    streams.output = output.write_end.get();
    output_ = std::move(output.read_end);
  }
  streams.error = error.write_end.get();
  error_ = std::move(error.read_end);
  try {
    pid_ = Spawn(command, streams, environment);
  } catch (const std::system_error& problem) {
    throw Error("{} cannot be started: {}", command.front(), problem.code().message());
  }
}

Child::~Child() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool Child::Poll(bool for_input, int milliseconds) {
  std::array<pollfd, 3> polled = {pollfd{output_.get(), POLLIN, 0}, pollfd{error_.get(), POLLIN, 0},
                                  pollfd{for_input ? input_.get() : -1, POLLOUT, 0}};
  if (::poll(polled.data(), polled.size(), milliseconds) <= 0) return false;
  if (polled[0].revents != 0) ReadSome(output_, received_);
  if (polled[1].revents != 0) ReadSome(error_, error_text_);
  if (error_text_.size() > kMaxError) error_text_.erase(0, error_text_.size() - kMaxError);
  return true;
}

bool Child::Write(std::string_view text, const Context& context) {
  while (!text.empty() && input_.valid()) {
    const ssize_t count = ::write(input_.get(), text.data(), text.size());
    if (count < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (count > 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else {
      context.ThrowIfStopped();
      Poll(true, kPollMilliseconds);
    }
  }
  return text.empty();
}

bool Child::WaitForOutput(const Context& context) {
  const std::size_t before = received_.size();
  while (output_.valid() && received_.size() == before) {
    context.ThrowIfStopped();
    Poll(false, kPollMilliseconds);
  }
  return received_.size() > before;
}

std::optional<std::string> Child::ReadLine(const Context& context) {
  while (true) {
    if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    if (!WaitForOutput(context)) return std::nullopt;
  }
}

void Child::Read(const std::function<bool(std::string_view)>& on_output, const Context& context) {
  while (!received_.empty() || WaitForOutput(context)) {
    if (!on_output(std::exchange(received_, ""))) return;
  }
}

int Child::Finish(const Context& context) {
  CloseInput();
  if (pid_ < 0) return exit_code_;
  Read([](std::string_view) { return true; }, context);
  int status = 0;
  pid_t ended = 0;
  while ((ended = ::waitpid(pid_, &status, WNOHANG)) == 0) {
    context.ThrowIfStopped();
    Poll(false, error_.valid() ? kPollMilliseconds : 1);
  }
  pid_ = -1;
  while (error_.valid() && Poll(false, 0)) {
  }
  // There is no status if this program was started with SIGCHLD ignored.
  if (ended > 0) exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return exit_code_;
}

}  // namespace support
