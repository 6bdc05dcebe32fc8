#include "testing/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "support/environment.h"
#include "support/wake_pipe.h"
#include "testing/throw_errno.h"

namespace testing_support {
namespace {

using Clock = std::chrono::steady_clock;

/// Ends with null. Valid as long as `words`.
std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> EnvironmentOf(const ChildProcess::Options& options) {
  support::Environment environment = support::OwnEnvironment();
  if (!options.working_directory.empty()) environment["PWD"] = options.working_directory;
  for (const auto& [name, value] : options.environment) {
    environment.erase(name);
    if (value) environment[name] = *value;
  }
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  return variables;
}

/// support::Spawn, in a working directory. Without sh and env, whose start takes longer than much
/// of what is tested.
pid_t SpawnIn(const ChildProcess::Options& options, const std::array<int, 3>& streams) {
  std::vector<std::string> words = options.arguments;
  words.at(0) = FindProgram(words.at(0));  // not along the PATH of its environment
  std::vector<std::string> variables = EnvironmentOf(options);
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  int error = ::posix_spawn_file_actions_init(&actions);
  const auto note = [&](int result) { error = error == 0 ? result : error; };
  note(::posix_spawnattr_init(&attributes));
  for (int to = 0; to < 3; ++to) {
    note(
        ::posix_spawn_file_actions_adddup2(&actions, streams.at(static_cast<std::size_t>(to)), to));
  }
  if (!options.working_directory.empty()) {
    note(::posix_spawn_file_actions_addchdir_np(&actions, options.working_directory.c_str()));
  }
  sigset_t signals{};
  sigemptyset(&signals);
  note(::posix_spawnattr_setsigmask(&attributes, &signals));
  for (const int number : {SIGPIPE, SIGXFSZ, SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
  note(::posix_spawnattr_setsigdefault(&attributes, &signals));
  int flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
#ifdef __APPLE__
  flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
  note(::posix_spawnattr_setflags(&attributes, static_cast<short>(flags)));
  pid_t pid = -1;
  if (error == 0) {
    error = ::posix_spawn(&pid, words.front().c_str(), &actions, &attributes,
                          Pointers(words).data(), Pointers(variables).data());
  }
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), options.arguments.at(0));
  return pid;
}

}  // namespace

std::string FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::istringstream directories(std::string(path == nullptr ? "" : path) + ":/usr/sbin:/sbin");
  for (std::string directory; std::getline(directories, directory, ':');) {
    std::string program = directory + "/" + name;
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  return "";
}

ChildProcess::ChildProcess(const Options& options) {
  support::Pipe input;
  support::Pipe output;
  std::optional<support::Pipe> error;
  if (!options.inherit_standard_error) error.emplace();
  pid_ = SpawnIn(options, {input.read_end.get(), output.write_end.get(),
                           error ? error->write_end.get() : STDERR_FILENO});
  input_ = std::move(input.write_end);
  output_ = std::move(output.read_end);
  if (error) error_ = std::move(error->read_end);
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
