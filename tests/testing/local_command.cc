#include "testing/local_command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "support/file_descriptor.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): macOS declares it nowhere

namespace testing_support {
namespace {

constexpr std::size_t kPieceSize = std::size_t{64} * 1024;
constexpr long kHighestInheritedDescriptor = 1024;
constexpr int kReapInterval = 2;  // milliseconds

using support::FileDescriptor;

void Check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

// Both ends are closed on exec; the caller holds the lock against other spawns, as macOS has no
// pipe2.
Pipe MakePipe() {
  std::array<int, 2> ends{};
  Check(pipe(ends.data()) == 0 ? 0 : errno, "pipe");
  for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

// sshd gives a command its three streams and nothing else; whoever started the tests may have left
// more open.
void CloseInheritedDescriptorsOnExec() {
  const long limit = std::min(sysconf(_SC_OPEN_MAX), kHighestInheritedDescriptor);
  for (int fd = STDERR_FILENO + 1; fd < limit; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

struct Process {
  pid_t id = 0;
  FileDescriptor standard_input;
  FileDescriptor standard_output;
  FileDescriptor standard_error;
};

Process Spawn(const std::string& command_line) {
  static std::mutex spawning;
  const std::lock_guard lock(spawning);
  CloseInheritedDescriptorsOnExec();
  Pipe input = MakePipe();
  Pipe output = MakePipe();
  Pipe error = MakePipe();

  posix_spawn_file_actions_t actions{};
  Check(posix_spawn_file_actions_init(&actions), "posix_spawn_file_actions_init");
  posix_spawn_file_actions_adddup2(&actions, input.read_end.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.write_end.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, error.write_end.get(), STDERR_FILENO);

  // A test may ignore SIGPIPE, and RunLocally blocks it; the command must not inherit that.
  sigset_t none{};
  sigemptyset(&none);
  sigset_t defaults{};
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_t attributes{};
  Check(posix_spawnattr_init(&attributes), "posix_spawnattr_init");
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigdefault(&attributes, &defaults);

  std::string shell = "/bin/sh";
  std::string option = "-c";
  std::string script = command_line;
  std::array<char*, 4> arguments{shell.data(), option.data(), script.data(), nullptr};
  Process process;
  const int failed =
      posix_spawn(&process.id, shell.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  Check(failed, "posix_spawn");

  process.standard_input = std::move(input.write_end);
  process.standard_output = std::move(output.read_end);
  process.standard_error = std::move(error.read_end);
  fcntl(process.standard_input.get(), F_SETFL, O_NONBLOCK);
  return process;
}

// Writes what the pipe takes. False when the command reads no more.
bool Feed(int fd, std::string_view& rest) {
  const ssize_t put = write(fd, rest.data(), rest.size());
  if (put < 0) return errno == EAGAIN || errno == EINTR;
  rest.remove_prefix(static_cast<std::size_t>(put));
  return true;
}

// False at the end of the stream; `wanted` tells whether the sink wants more.
bool Drain(int fd, guest::OutputStream stream, guest::OutputSink& sink, bool& wanted) {
  std::array<char, kPieceSize> piece{};
  const ssize_t got = read(fd, piece.data(), piece.size());
  if (got < 0) return errno == EINTR;
  if (got == 0) return false;
  wanted = sink.OnOutput(stream, {piece.data(), static_cast<std::size_t>(got)});
  return true;
}

int MillisecondsUntil(support::Clock::time_point deadline) {
  if (deadline == support::Clock::time_point::max()) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - support::Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 60'000));
}

std::string SignalName(int number) {
  switch (number) {
    case SIGKILL:
      return "KILL";
    case SIGTERM:
      return "TERM";
    case SIGINT:
      return "INT";
    case SIGHUP:
      return "HUP";
    case SIGPIPE:
      return "PIPE";
    case SIGABRT:
      return "ABRT";
    case SIGSEGV:
      return "SEGV";
    default:
      return std::to_string(number);
  }
}

// Empty while the process runs.
std::optional<guest::CommandResult> Reap(pid_t process) {
  int status = 0;
  const pid_t reaped = waitpid(process, &status, WNOHANG);
  if (reaped == 0) return std::nullopt;
  Check(reaped < 0 ? errno : 0, "waitpid");
  guest::CommandResult result;
  if (WIFSIGNALED(status)) {
    result.exit_signal = SignalName(WTERMSIG(status));
  } else {
    result.exit_status = WEXITSTATUS(status);
  }
  return result;
}

// Blocks SIGPIPE in this thread for as long as it lives, and takes away one that is pending.
class SigpipeBlocked {
 public:
  SigpipeBlocked() {
    sigset_t set{};
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, &before_);
  }
  ~SigpipeBlocked() {
    sigset_t pending{};
    sigpending(&pending);
    if (sigismember(&pending, SIGPIPE) == 1) {
      sigset_t set{};
      sigemptyset(&set);
      sigaddset(&set, SIGPIPE);
      int taken = 0;
      sigwait(&set, &taken);
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

guest::CommandResult RunLocally(const guest::Command& command, guest::OutputSink& sink,
                                const support::Context& context,
                                const std::function<void(int process)>& abandon) {
  const SigpipeBlocked sigpipe_blocked;
  Pipe wake = MakePipe();
  Process process = Spawn(command.command_line);
  const support::Context::Registration on_stop = context.OnStop([fd = wake.write_end.get()] {
    if (write(fd, "x", 1) < 0) std::terminate();
  });

  std::optional<guest::CommandResult> result;
  std::string_view rest = command.standard_input;
  bool wanted = true;
  support::Clock::time_point wait_until = context.deadline();
  bool stopping = false;
  const auto throw_if_stopped = [&] {
    const support::StopReason reason = context.stop_reason();
    if (reason == support::StopReason::kNone) return;
    process.standard_input.Close();
    rest = {};
    if (!stopping) wait_until = support::Clock::now() + command.stop_grace;
    stopping = true;
    if (wanted && support::Clock::now() < wait_until) return;
    if (!result) {
      kill(-process.id, SIGTERM);
      abandon(process.id);
    }
    throw support::Stopped(reason);
  };

  while (process.standard_output.valid() || process.standard_error.valid()) {
    // As sshd does: nobody is interested any more in what would be written to the command.
    if (!result && command.hold_standard_input_open && (result = Reap(process.id))) {
      process.standard_input.Close();
      rest = {};
    }
    if (rest.empty() && !command.hold_standard_input_open) process.standard_input.Close();
    std::array<pollfd, 4> waiting{{
        {.fd = stopping ? -1 : wake.read_end.get(), .events = POLLIN, .revents = 0},
        {.fd = process.standard_output.get(), .events = POLLIN, .revents = 0},
        {.fd = process.standard_error.get(), .events = POLLIN, .revents = 0},
        {.fd = rest.empty() ? -1 : process.standard_input.get(), .events = POLLOUT, .revents = 0},
    }};
    const bool looks_for_end = command.hold_standard_input_open && !result;
    const int timeout = MillisecondsUntil(wait_until);
    poll(waiting.data(), waiting.size(),
         looks_for_end && (timeout < 0 || timeout > kReapInterval) ? kReapInterval : timeout);
    throw_if_stopped();
    if (waiting[1].revents != 0 &&
        !Drain(process.standard_output.get(), guest::OutputStream::kStandardOutput, sink, wanted)) {
      process.standard_output.Close();
    }
    if (wanted && waiting[2].revents != 0 &&
        !Drain(process.standard_error.get(), guest::OutputStream::kStandardError, sink, wanted)) {
      process.standard_error.Close();
    }
    if (!wanted) {
      throw_if_stopped();
      if (result) return *result;
      abandon(process.id);
      return {};
    }
    if (waiting[3].revents != 0 && !Feed(process.standard_input.get(), rest)) rest = {};
  }
  if (stopping) wait_until = support::Clock::now();
  throw_if_stopped();
  if (result) return *result;
  // Its output is closed, and it ends now in nearly every case.
  while (true) {
    if (const auto ended = Reap(process.id)) return *ended;
    pollfd stopped{.fd = wake.read_end.get(), .events = POLLIN, .revents = 0};
    poll(&stopped, 1, kReapInterval);
    throw_if_stopped();
  }
}

}  // namespace testing_support
