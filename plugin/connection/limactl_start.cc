#include "connection/limactl_start.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "support/environment.h"
#include "support/errors.h"
#include "support/spawn.h"
#include "support/units.h"
#include "support/utf8.h"

namespace connection {
namespace {

/// Between checks whether limactl has exited.
constexpr std::chrono::milliseconds kPollInterval{100};

/// Bytes of limactl's output that an error quotes.
constexpr off_t kLastBytes = 2048;
constexpr std::size_t kLastLines = 5;

std::string LastLines(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return {};
  const off_t start = std::max<off_t>(0, status.st_size - kLastBytes);
  std::string text(static_cast<std::size_t>(status.st_size - start), '\0');
  const ssize_t count = ::pread(file, text.data(), text.size(), start);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
  while (text.ends_with('\n')) text.pop_back();
  std::size_t first = text.size();
  for (std::size_t lines = 0; lines < kLastLines && first != std::string::npos; ++lines) {
    first = first == 0 ? std::string::npos : text.rfind('\n', first - 1);
  }
  return support::ToUtf8(first == std::string::npos ? text : text.substr(first + 1));
}

/// The wait status, once the process has exited.
std::optional<int> StatusOf(pid_t process) {
  int status = 0;
  const pid_t pid = ::waitpid(process, &status, WNOHANG);
  if (pid == 0 || (pid < 0 && errno == EINTR)) return std::nullopt;
  // If SIGCHLD is ignored there is no status; the next check of the instance shows the result.
  return pid < 0 ? 0 : status;
}

std::string DescribeStatus(int status) {
  if (WIFSIGNALED(status)) return "killed by signal " + std::to_string(WTERMSIG(status));
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

LimactlStart::Process LimactlStart::Spawn() const {
  Process process{{std::tmpfile(), &std::fclose}};
  const int output = process.output ? ::fileno(process.output.get()) : -1;
  if (output < 0 || ::fcntl(output, F_SETFD, FD_CLOEXEC) != 0 ||
      ::fcntl(output, F_SETFL, O_APPEND) != 0) {
    throw support::CallError(std::string("cannot create a temporary file for limactl's output: ") +
                             std::strerror(errno));
  }
  try {
    process.pid = support::Spawn({"limactl", "start", "--tty=false", name_}, {-1, output, output},
                                 support::SpawnSession::kOwn);
    return process;
  } catch (const std::system_error& error) {
    throw support::CallError("the Lima instance \"" + name_ +
                             "\" is stopped and cannot be started: no limactl on PATH (" +
                             support::EnvironmentVariable("PATH") + "): " + error.code().message() +
                             ". Start it on the host with: " + CommandLine());
  }
}

void LimactlStart::Forget() {
  if (process_) static_cast<void>(StatusOf(process_->pid));
  process_.reset();
}

void LimactlStart::Run(const support::Context& context, const ReportStatus& report_status) {
  if (!process_) process_ = Spawn();
  report_status("the Lima instance \"" + name_ + "\" is being started with `" + CommandLine() +
                "`");
  std::optional<int> status;
  while (!(status = StatusOf(process_->pid))) {
    if (support::Clock::now() - process_->since >= time_limit_) {
      throw support::CallError("`" + CommandLine() + "` has not finished within " +
                               support::FormatDuration(time_limit_) +
                               " and continues; check it on the host with: limactl list");
    }
    support::Pause(kPollInterval, context);
  }
  const std::string lines = LastLines(::fileno(process_->output.get()));
  process_.reset();
  if (*status == 0) return;
  throw support::CallError("the Lima instance \"" + name_ + "\" is stopped, and `" + CommandLine() +
                           "` failed (" + DescribeStatus(*status) + "). Its last output:\n" +
                           (lines.empty() ? "none" : lines));
}

}  // namespace connection
