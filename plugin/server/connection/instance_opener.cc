// SPDX-License-Identifier: Apache-2.0
#include "connection/instance_opener.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "lima/sandbox.h"
#include "support/child.h"
#include "support/environment.h"
#include "support/errors.h"
#include "support/utf8.h"

namespace connection {
namespace {

/// Between checks whether limactl has exited.
constexpr std::chrono::milliseconds kPollInterval{100};

/// The end of what limactl has printed.
std::string LastOutput(std::FILE* file) {
  constexpr std::size_t kLastBytes = 1024;
  std::string text(kLastBytes, '\0');
  if (std::fseek(file, -static_cast<long>(kLastBytes), SEEK_END) != 0) std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  return support::ToUtf8(text);
}

using Connect = std::function<tools::Workspace(const support::Context&)>;

tools::Workspace Attempt(const std::string& instance, const support::Context& context,
                         const Connect& connect) {
  try {
    return connect(context.WithTimeout(InstanceOpener::kTimeout));
  } catch (const support::Stopped&) {
    context.ThrowIfStopped();
    throw support::Error(
        "the guest did not complete the connection in time: the virtual machine hangs or is still "
        "starting. Call again, or restart it: `{}`",
        lima::ForcedRestartCommand(instance));
  }
}

}  // namespace

void StartInstance(const std::string& name, const support::Context& context,
                   const ReportStatus& report_status) {
  const std::string command = "limactl start " + name;
  const std::string stopped = support::Format("the Lima instance \"{}\" is stopped", name);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  const int output = file ? ::fileno(file.get()) : -1;
  if (output < 0 || ::fcntl(output, F_SETFD, FD_CLOEXEC) != 0 ||
      ::fcntl(output, F_SETFL, O_APPEND) != 0) {
    throw support::Error("cannot create a temporary file for limactl's output: {}",
                         std::strerror(errno));
  }
  pid_t process = -1;
  try {
    process = support::Spawn({"limactl", "start", "--tty=false", name},
                             {.output = output, .error = output, .own_session = true});
  } catch (const std::system_error& error) {
    throw support::Error(
        "{} and cannot be started: no limactl on PATH ({}): {}. Start it on the host with: {}",
        stopped, support::EnvironmentVariable("PATH"), error.code().message(), command);
  }
  report_status(
      support::Format("the Lima instance \"{}\" is being started with `{}`", name, command));
  int status = 0;
  // If SIGCHLD is ignored there is no status; the next check of the instance shows the result.
  while (::waitpid(process, &status, WNOHANG) == 0) support::Pause(kPollInterval, context);
  if (status == 0) return;
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  throw support::Error("{}, and `{}` failed (exit status {}). Its last output:\n{}", stopped,
                       command, code, LastOutput(file.get()));
}

tools::Workspace InstanceOpener::Open(const support::Context& context,
                                      const ReportStatus& report_status) {
  const Connect connect = [&](const support::Context& limited) {
    return OpenInstance(options_, pins_, limited);
  };
  try {
    return Attempt(options_.name, context, connect);
  } catch (const InstanceNotRunning& problem) {
    if (!may_start_ || problem.state() != lima::State::kStopped) throw;
  }
  StartInstance(options_.name, context, report_status);
  return Attempt(options_.name, context, connect);
}

tools::Workspace OpenGuest(const InstanceOptions& options, const support::Context& context) {
  return Attempt(options.name, context, [&](const support::Context& limited) {
    return tools::Workspace{.guest = ConnectGuest(options, limited), .paths = nullptr, .shell = ""};
  });
}

}  // namespace connection
