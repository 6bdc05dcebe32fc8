// SPDX-License-Identifier: Apache-2.0
#include "connection/instance_opener.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <system_error>
#include <utility>

#include "lima/sandbox.h"
#include "support/child.h"
#include "support/environment.h"
#include "support/errors.h"
#include "support/log.h"
#include "support/utf8.h"

namespace connection {
namespace {

using support::Clock;

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

class GuestOpener : public InstanceOpener {
 public:
  explicit GuestOpener(const InstanceOptions& options)
      : InstanceOpener(options, false), options_(options) {}

 private:
  tools::Workspace Attempt(const support::Context& context) override {
    return {.guest = ConnectGuest(options_, context), .paths = nullptr, .shell = ""};
  }

  const InstanceOptions& options_;
};

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

InstanceOpener::InstanceOpener(const InstanceOptions& options, bool may_start,
                               const RetryTimes& times)
    : options_(options), may_start_(may_start), times_(times) {}

tools::Workspace InstanceOpener::Open(const support::Context& context,
                                      const ReportStatus& report_status) {
  const std::optional<Clock::time_point> failed_at = std::exchange(failed_at_, std::nullopt);
  const bool failed_before = failed_at && Clock::now() - *failed_at < times_.memory;
  auto deadline = Clock::now() + (failed_before ? times_.after_failure : times_.total);
  Clock::duration pause = times_.first_pause;
  std::optional<Clock::time_point> broken_since;
  std::exception_ptr last_loss;
  std::exception_ptr start_failure;
  bool may_start = may_start_;
  while (true) {
    try {
      return Attempt(context.WithDeadline(deadline));
    } catch (const InstanceNotRunning& problem) {
      const bool is_stopped = problem.state() == lima::State::kStopped;
      if (is_stopped && std::exchange(may_start, false)) {
        try {
          Start(context, report_status);
        } catch (const support::Error&) {
          context.ThrowIfStopped();
          // Another program may be starting the instance; the next attempt finds out.
          start_failure = std::current_exception();
        }
        deadline = Clock::now() + times_.total;
        broken_since.reset();
        continue;
      }
      if (!broken_since) broken_since = Clock::now();
      if (is_stopped || Clock::now() - *broken_since >= times_.broken) {
        if (start_failure) std::rethrow_exception(start_failure);
        throw;
      }
      report_status("waiting for the instance, which looks broken: it may be starting or stopping");
    } catch (const support::ConnectionLost& lost) {
      broken_since.reset();
      last_loss = std::current_exception();
      support::LogInfo(lost.what());
      report_status("waiting for the guest's sshd, which cannot be reached yet");
      if (Clock::now() + pause >= deadline) break;
    } catch (const support::Stopped&) {
      context.ThrowIfStopped();
      if (last_loss) break;
      last_loss = std::make_exception_ptr(support::ConnectionLost(
          support::Format("the guest did not complete the connection in time: the virtual machine "
                          "hangs or is still starting. Call again, or restart it: `{}`",
                          lima::ForcedRestartCommand(options_.name)),
          false));
      break;
    }
    // The clock's last digits are random enough.
    const auto random = Clock::now().time_since_epoch().count() % 1000;
    support::Pause(pause - pause * random / 2000, context);
    pause = std::min(pause * 2, times_.max_pause);
  }
  failed_at_ = Clock::now();
  std::rethrow_exception(last_loss);
}

std::shared_ptr<guest::Guest> OpenGuest(const InstanceOptions& options,
                                        const ReportStatus& report_status) {
  return GuestOpener(options).Open({}, report_status).guest;
}

}  // namespace connection
