// SPDX-License-Identifier: Apache-2.0
#include "testing/child_process.h"

#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <utility>

#include "support/child.h"
#include "support/environment.h"
#include "support/errors.h"
#include "support/pipe.h"
#include "support/program.h"
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

std::vector<std::string> CommandOf(const ChildProcess::Options& options) {
  std::vector<std::string> command = options.arguments;
  command.at(0) = FindProgram(command.at(0));  // also in /usr/sbin
  return command;
}

}  // namespace

std::string FindProgram(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const std::string path = support::EnvironmentVariable("PATH") + ":/usr/sbin:/sbin";
  return support::FindProgram(name, path).value_or("");
}

ChildProcess::ChildProcess(const Options& options) {
  support::Pipe input;
  support::Pipe output;
  support::Pipe error;
  pid_ = support::Spawn(CommandOf(options),
                        {.input = input.read_end.get(),
                         .output = output.write_end.get(),
                         .error = error.write_end.get(),
                         .directory = options.working_directory},
                        EnvironmentOf(options));
  input_ = std::move(input.write_end);
  output_ = std::move(output.read_end);
  error_ = std::move(error.read_end);
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
  ::signal(SIGPIPE, SIG_IGN);
  try {
    const support::Context context = support::Context().WithTimeout(timeout);
    support::Child child(CommandOf(options),
                         {.input = support::Child::kPipe,
                          .output = support::Child::kPipe,
                          .directory = options.working_directory},
                         EnvironmentOf(options));
    static_cast<void>(child.Write(input, context));  // the program may not want all of it
    child.CloseInput();
    ProcessResult result;
    const auto keep = [&result](std::string_view bytes) {
      result.output += bytes;
      return true;
    };
    child.Read(keep, context);
    result.exit_code = child.Finish(context);
    result.error = child.error();
    return result;
  } catch (const support::Stopped&) {
    throw std::runtime_error(options.arguments[0] + " took too long");
  }
}

}  // namespace testing_support
