#include "testing/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "support/child.h"
#include "support/environment.h"
#include "support/wake_pipe.h"
#include "testing/throw_errno.h"

namespace testing_support {
namespace {

using Clock = std::chrono::steady_clock;

support::Environment EnvironmentOf(const ChildProcess::Options& options) {
  support::Environment environment = support::OwnEnvironment();
  if (!options.working_directory.empty()) environment["PWD"] = options.working_directory;
  for (const auto& [name, value] : options.environment) {
    environment.erase(name);
    if (value) environment[name] = *value;
  }
  return environment;
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
  std::vector<std::string> command = options.arguments;
  command.at(0) = FindProgram(command.at(0));  // also in /usr/sbin
  pid_ = support::Spawn(command,
                        {.input = input.read_end.get(),
                         .output = output.write_end.get(),
                         .error = error ? error->write_end.get() : STDERR_FILENO,
                         .directory = options.working_directory},
                        EnvironmentOf(options));
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
