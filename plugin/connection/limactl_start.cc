#include "connection/limactl_start.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

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
    process = support::Spawn({"limactl", "start", "--tty=false", name},
                             {.output = output, .error = output, .own_session = true});
  } catch (const std::system_error& error) {
    throw support::CallError(stopped + " and cannot be started: no limactl on PATH (" +
                             support::EnvironmentVariable("PATH") + "): " + error.code().message() +
                             ". Start it on the host with: " + command);
  }
  report_status("the Lima instance \"" + name + "\" is being started with `" + command + "`");
  int status = 0;
  // If SIGCHLD is ignored there is no status; the next check of the instance shows the result.
  while (::waitpid(process, &status, WNOHANG) == 0) support::Pause(kPollInterval, context);
  if (status == 0) return;
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  throw support::CallError(stopped + ", and `" + command + "` failed (exit status " +
                           std::to_string(code) + "). Its last output:\n" + LastOutput(file.get()));
}

}  // namespace connection
