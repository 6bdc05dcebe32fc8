#include "connection/limactl_start.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <system_error>

#include "support/environment.h"
#include "support/errors.h"
#include "support/spawn.h"
#include "support/utf8.h"

namespace connection {
namespace {

/// Between checks whether limactl has exited.
constexpr std::chrono::milliseconds kPollInterval{100};

/// Bytes of limactl's output that an error quotes.
constexpr std::size_t kLastBytes = 2048;
constexpr std::size_t kLastLines = 5;

std::string LastLines(int file) {
  std::string text(kLastBytes, '\0');
  const off_t end = std::max<off_t>(::lseek(file, 0, SEEK_END), 0);
  const ssize_t count = ::pread(file, text.data(), text.size(),
                                std::max<off_t>(0, end - static_cast<off_t>(kLastBytes)));
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

void StartInstance(const std::string& name, const support::Context& context,
                   const ReportStatus& report_status) {
  const std::string command = "limactl start " + name;
  const std::string stopped = "the Lima instance \"" + name + "\" is stopped";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  const int output = file ? ::fileno(file.get()) : -1;
  if (output < 0 || ::fcntl(output, F_SETFD, FD_CLOEXEC) != 0 ||
      ::fcntl(output, F_SETFL, O_APPEND) != 0) {
    throw support::CallError(std::string("cannot create a temporary file for limactl's output: ") +
                             std::strerror(errno));
  }
  pid_t process = -1;
  try {
    process = support::Spawn({"limactl", "start", "--tty=false", name}, {-1, output, output},
                             support::SpawnSession::kOwn);
  } catch (const std::system_error& error) {
    throw support::CallError(stopped + " and cannot be started: no limactl on PATH (" +
                             support::EnvironmentVariable("PATH") + "): " + error.code().message() +
                             ". Start it on the host with: " + command);
  }
  report_status("the Lima instance \"" + name + "\" is being started with `" + command + "`");
  std::optional<int> status;
  while (!(status = StatusOf(process))) support::Pause(kPollInterval, context);
  if (*status == 0) return;
  const std::string lines = LastLines(output);
  throw support::CallError(stopped + ", and `" + command + "` failed (" + DescribeStatus(*status) +
                           "). Its last output:\n" + (lines.empty() ? "none" : lines));
}

}  // namespace connection
