#include "connection/instance_starter.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "connection/pause.h"
#include "support/errors.h"
#include "support/log.h"
#include "support/spawn.h"
#include "support/units.h"
#include "support/utf8.h"

namespace connection {
namespace {

/// Of limactl's output, for the text of a failure.
constexpr off_t kLastWordsBytes = 2048;
constexpr std::size_t kLastWordsLines = 5;

support::FileDescriptor NamelessFile() {
  std::error_code missing;
  const std::filesystem::path directory = std::filesystem::temp_directory_path(missing);
  if (missing) {
    throw support::CallError(
        "there is no directory for temporary files, and so no place for limactl's output; set "
        "TMPDIR to one: " +
        missing.message());
  }
  std::string path = (directory / "limactl-mcp-start-XXXXXX").string();
  support::FileDescriptor file(::mkstemp(path.data()));
  if (!file.valid() || ::unlink(path.c_str()) != 0 ||
      ::fcntl(file.get(), F_SETFD, FD_CLOEXEC) != 0 ||
      ::fcntl(file.get(), F_SETFL, O_APPEND) != 0) {
    throw support::CallError("cannot make a temporary file for limactl's output (" + path +
                             "): " + std::strerror(errno));
  }
  return file;
}

std::string LastWords(int file) {
  struct stat status {};
  if (::fstat(file, &status) != 0) return {};
  const off_t start = std::max<off_t>(0, status.st_size - kLastWordsBytes);
  std::string text(static_cast<std::size_t>(status.st_size - start), '\0');
  const ssize_t count = ::pread(file, text.data(), text.size(), start);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
  while (text.ends_with('\n')) text.pop_back();
  std::size_t first = text.size();
  for (std::size_t lines = 0; lines < kLastWordsLines && first != std::string::npos; ++lines) {
    first = first == 0 ? std::string::npos : text.rfind('\n', first - 1);
  }
  return support::ToUtf8(first == std::string::npos ? text : text.substr(first + 1));
}

std::string DescribeEnd(int status) {
  if (WIFSIGNALED(status)) return "ended by signal " + std::to_string(WTERMSIG(status));
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

InstanceStarter::~InstanceStarter() {
  if (process_ && ::waitpid(process_->pid, nullptr, WNOHANG) == 0) {
    support::LogInfo("`" + CommandLine() + "` goes on by itself");
  }
}

InstanceStarter::Process InstanceStarter::Spawn() const {
  Process process;
  process.output = NamelessFile();
  process.since = support::Clock::now();
  const int output = process.output.get();
  try {
    process.pid = support::Spawn({"limactl", "start", "--tty=false", name_}, {-1, output, output},
                                 support::SpawnSession::kOwn);
    return process;
  } catch (const std::system_error& error) {
    const char* path = std::getenv("PATH");
    throw support::CallError("the Lima instance \"" + name_ +
                             "\" is stopped and cannot be started: limactl, looked for on PATH (" +
                             (path == nullptr ? "not set" : path) +
                             "), gives: " + error.code().message() +
                             ". Start it on the host with: " + CommandLine());
  }
}

std::optional<int> InstanceStarter::Ended() const {
  int status = 0;
  const pid_t pid = ::waitpid(process_->pid, &status, WNOHANG);
  if (pid == 0 || (pid < 0 && errno == EINTR)) return std::nullopt;
  // Nobody keeps an exit status where this program was started with SIGCHLD ignored. The next look
  // at the instance tells then.
  return pid < 0 ? 0 : status;
}

void InstanceStarter::Start(const support::Context& context, const Tell& tell) {
  if (process_ && process_->reached && Ended()) process_.reset();
  if (!process_) process_ = Spawn();
  tell("the Lima instance \"" + name_ + "\" is being started with `" + CommandLine() + "`");
  std::optional<int> status;
  while (!(status = Ended())) {
    if (support::Clock::now() - process_->since >= time_limit_) {
      throw support::CallError("`" + CommandLine() + "` has not ended within " +
                               support::FormatDuration(time_limit_) +
                               " and goes on; see what it says on the host with: limactl "
                               "list");
    }
    Pause(kPollInterval, context);
  }
  const std::string words = LastWords(process_->output.get());
  process_.reset();
  if (*status == 0) return;
  throw support::CallError("the Lima instance \"" + name_ + "\" is stopped, and `" + CommandLine() +
                           "` failed (" + DescribeEnd(*status) + "). It said last:\n" +
                           (words.empty() ? "nothing" : words));
}

}  // namespace connection
