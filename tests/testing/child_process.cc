#include "testing/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

extern char** environ;  // NOLINT(readability-redundant-declaration): macOS declares it nowhere

namespace testing_support {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void ThrowErrno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

Pipe MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) ThrowErrno("pipe");
  for (const int end : ends) {
    if (::fcntl(end, F_SETFD, FD_CLOEXEC) != 0) ThrowErrno("fcntl");
  }
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

std::vector<std::string> BuildEnvironment(const ChildProcess::Options& options) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (options.environment.count(text.substr(0, text.find('='))) == 0) result.push_back(text);
  }
  for (const auto& [name, value] : options.environment) {
    if (value) result.push_back(name + "=" + *value);
  }
  return result;
}

std::vector<char*> PointersTo(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Owns posix_spawn's attributes and actions.
class SpawnPlan {
 public:
  SpawnPlan() {
    Require(::posix_spawn_file_actions_init(&actions_));
    Require(::posix_spawnattr_init(&attributes_));
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE);
    Require(::posix_spawnattr_setsigdefault(&attributes_, &signals));
    int flags = POSIX_SPAWN_SETSIGDEF;
#ifdef __APPLE__
    flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;  // there is no pipe2()
#endif
    Require(::posix_spawnattr_setflags(&attributes_, static_cast<short>(flags)));
  }
  ~SpawnPlan() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  void Redirect(int from, int to) {
    Require(::posix_spawn_file_actions_adddup2(&actions_, from, to));
  }
  void ChangeDirectory(const std::string& directory) {
    // Deprecated on macOS 26.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    Require(::posix_spawn_file_actions_addchdir_np(&actions_, directory.c_str()));
#pragma GCC diagnostic pop
  }

  [[nodiscard]] pid_t Spawn(const std::string& program, const std::vector<char*>& arguments,
                            const std::vector<char*>& environment) const {
    pid_t pid = -1;
    Require(::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, arguments.data(),
                          environment.data()));
    return pid;
  }

 private:
  static void Require(int error) {
    if (error != 0) throw std::system_error(error, std::generic_category(), "posix_spawn");
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// Finds a program as the shell does.
std::string FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string rest = path != nullptr ? path : "/usr/bin:/bin";
  rest += ":/usr/sbin:/sbin";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string candidate = rest.substr(0, colon) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  throw std::runtime_error("no program " + name + " on PATH");
}

}  // namespace

ChildProcess::ChildProcess(const Options& options) {
  std::vector<std::string> arguments = options.arguments;
  const std::string program = FindProgram(arguments.at(0));
  std::vector<std::string> environment = BuildEnvironment(options);
  Pipe input = MakePipe();
  Pipe output = MakePipe();
  Pipe error = options.inherit_standard_error ? Pipe{} : MakePipe();

  // Not fork: copying the page tables of a large process would distort benchmarks.
  SpawnPlan plan;
  plan.Redirect(input.read.get(), STDIN_FILENO);
  plan.Redirect(output.write.get(), STDOUT_FILENO);
  plan.Redirect(options.inherit_standard_error ? STDERR_FILENO : error.write.get(), STDERR_FILENO);
  if (!options.working_directory.empty()) plan.ChangeDirectory(options.working_directory);
  pid_ = plan.Spawn(program, PointersTo(arguments), PointersTo(environment));
  input_ = std::move(input.write);
  output_ = std::move(output.read);
  error_ = std::move(error.read);
}

ChildProcess::~ChildProcess() {
  if (status_ || pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

void ChildProcess::Signal(int number) const {
  if (!status_ && ::kill(pid_, number) != 0) ThrowErrno("kill");
}

std::optional<int> ChildProcess::Wait(std::chrono::milliseconds timeout) {
  // There is no portable wait with a deadline.
  const auto deadline = Clock::now() + timeout;
  while (!status_) {
    int status = 0;
    const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended < 0 && errno != EINTR) ThrowErrno("waitpid");
    if (ended == pid_) {
      status_ = status;
      break;
    }
    if (Clock::now() >= deadline) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status_;
}

ProcessResult RunProcess(const ChildProcess::Options& options, const std::string& input,
                         std::chrono::milliseconds timeout) {
  const auto deadline = Clock::now() + timeout;
  ChildProcess child(options);
  ProcessResult result;
  std::size_t sent = 0;
  if (::fcntl(child.standard_input().get(), F_SETFL, O_NONBLOCK) != 0) ThrowErrno("fcntl");
  while (child.standard_output().valid() || child.standard_error().valid()) {
    if (child.standard_input().valid() && sent == input.size()) child.standard_input().Close();
    std::array<pollfd, 3> polled = {{{child.standard_input().get(), POLLOUT, 0},
                                     {child.standard_output().get(), POLLIN, 0},
                                     {child.standard_error().get(), POLLIN, 0}}};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) throw std::runtime_error(options.arguments[0] + " took too long");
    if (::poll(polled.data(), polled.size(), static_cast<int>(left.count())) < 0 && errno != EINTR)
      ThrowErrno("poll");
    if (polled[0].revents != 0) {
      const ssize_t count = ::write(polled[0].fd, input.data() + sent, input.size() - sent);
      if (count > 0) {
        sent += static_cast<std::size_t>(count);
      } else if (errno != EAGAIN && errno != EINTR) {
        child.standard_input().Close();  // the program does not want the rest
      }
    }
    const auto drain = [](FileDescriptor& from, short events, std::string& into) {
      if (events == 0) return;
      std::array<char, 65536> buffer{};
      const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
      if (count > 0) into.append(buffer.data(), static_cast<std::size_t>(count));
      if (count == 0 || (count < 0 && errno != EINTR)) from.Close();
    };
    drain(child.standard_output(), polled[1].revents, result.output);
    drain(child.standard_error(), polled[2].revents, result.error);
  }
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  const std::optional<int> status = child.Wait(left);
  if (!status) throw std::runtime_error(options.arguments[0] + " took too long");
  result.exit_code = WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
  return result;
}

}  // namespace testing_support
