#include "copy/git.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <system_error>
#include <utility>

#include "support/environment.h"
#include "support/errors.h"
#include "support/printable.h"
#include "support/wake_pipe.h"

namespace copy {
namespace {

/// Bytes of git's messages that are kept, and of those that an error quotes.
constexpr std::size_t kMaxError = std::size_t{64} << 10;
constexpr std::size_t kMaxWords = 400;

/// CPU seconds, and KiB of memory without mapped files, which macOS does not limit.
constexpr const char* kLimits =
    "{ ulimit -c 0; ulimit -t 600; ulimit -d 1400000; } 2>/dev/null; exec \"$@\"";

/// Reads what is there. False at the end.
bool ReadSome(int fd, const std::function<void(std::string_view)>& take) {
  std::array<char, 65536> buffer{};
  const ssize_t count = ::read(fd, buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return true;
  if (count > 0) take({buffer.data(), static_cast<std::size_t>(count)});
  return count > 0;
}

}  // namespace

GitChild::GitChild(const std::vector<std::string>& command, const support::Variables& environment,
                   support::SpawnStreams streams) {
  support::Pipe output;
  support::Pipe error;
  if (streams.output < 0) streams.output = output.write_end.get();
  if (streams.error < 0) streams.error = error.write_end.get();
  try {
    pid_ = support::Spawn(command, streams, support::SpawnSession::kShared, environment);
  } catch (const std::system_error& problem) {
    throw support::CallError("git cannot be started on this host: " + problem.code().message());
  }
  output_ = std::move(output.read_end);
  error_stream_ = std::move(error.read_end);
}

void GitChild::Kill() const {
  ::kill(pid_, SIGKILL);
}

GitChild::~GitChild() {
  if (pid_ < 0) return;
  Kill();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void GitChild::Read(const std::function<void(std::string_view)>& on_output) {
  const auto keep = [this](std::string_view bytes) {
    error_ += bytes.substr(0, kMaxError - error_.size());
  };
  while (output_.valid() || error_stream_.valid()) {
    // poll() ignores the closed one.
    std::array<pollfd, 2> polled = {{{output_.get(), POLLIN, 0}, {error_stream_.get(), POLLIN, 0}}};
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    if (polled[1].revents != 0 && !ReadSome(error_stream_.get(), keep)) error_stream_.Close();
    if (polled[0].revents != 0 && !ReadSome(output_.get(), on_output)) output_.Close();
  }
}

bool GitChild::Finish() {
  Read([](std::string_view) {});
  if (pid_ < 0) return status_ == 0;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return status_ == 0;
}

std::string GitChild::Words() const {
  std::string chosen;
  for (const std::string& line : Split(error_, '\n')) {
    const bool is_problem = line.starts_with("fatal: ") || line.starts_with("error: ");
    if (chosen.empty() || is_problem) chosen = line;
    if (is_problem) break;
  }
  if (chosen.empty() && status_ > 128) {
    chosen = "git was killed by signal " + std::to_string(status_ - 128);
  }
  return support::Printable(chosen.substr(0, kMaxWords));
}

std::string GitOutput::Line() const {
  return output.ends_with('\n') ? output.substr(0, output.size() - 1) : output;
}

Git Git::Neutral(const std::filesystem::path& repository, int lock) {
  Git git;
  git.lock_ = lock;
  git.limits_ = {"/bin/sh", "-c", kLimits, "sh"};
  git.options_ = {"--git-dir=" + repository.string(), "-c", "core.hooksPath=/dev/null"};
  git.environment_ = {"PATH=" + support::EnvironmentVariable("PATH"),
                      "LC_ALL=C",
                      "HOME=/nonexistent",
                      "GIT_CONFIG_GLOBAL=/dev/null",
                      "GIT_CONFIG_NOSYSTEM=1",
                      "GIT_ATTR_NOSYSTEM=1",
                      "GIT_NO_REPLACE_OBJECTS=1",
                      "GIT_NO_LAZY_FETCH=1",
                      "GIT_ALLOW_PROTOCOL=none",
                      "GIT_TERMINAL_PROMPT=0",
                      "GIT_ALLOC_LIMIT=1g"};
  const std::string programs = support::EnvironmentVariable("GIT_EXEC_PATH");
  if (!programs.empty()) git.environment_.push_back("GIT_EXEC_PATH=" + programs);
  return git;
}

Git Git::Users(const std::filesystem::path& project, int lock) {
  Git git;
  git.lock_ = lock;
  git.options_ = {"-C", project.string()};
  for (const char* setting :
       {"core.hooksPath=/dev/null", "hook.reference-transaction.enabled=false",
        "hook.post-index-change.enabled=false", "core.fsmonitor=false", "core.splitIndex=false",
        "core.safecrlf=false", "gc.auto=0", "maintenance.auto=false"}) {
    git.options_.insert(git.options_.end(), {"-c", setting});
  }
  git.environment_ = support::OwnVariables();
  std::erase_if(git.environment_, [](const std::string& variable) {
    return variable.starts_with("GIT_") && !variable.starts_with("GIT_CONFIG_GLOBAL=") &&
           !variable.starts_with("GIT_CONFIG_SYSTEM=") &&
           !variable.starts_with("GIT_CONFIG_NOSYSTEM=") && !variable.starts_with("GIT_EXEC_PATH=");
  });
  return git.With({"GIT_NO_REPLACE_OBJECTS=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
                   "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none"});
}

Git Git::With(const support::Variables& variables) const {
  Git git = *this;
  git.environment_.insert(git.environment_.end(), variables.begin(), variables.end());
  return git;
}

Git Git::WithoutLimits() const {
  Git git = *this;
  git.limits_.clear();
  return git;
}

GitChild Git::Start(const Arguments& arguments, support::SpawnStreams streams) const {
  std::vector<std::string> command = limits_;
  command.emplace_back("git");
  command.insert(command.end(), options_.begin(), options_.end());
  command.insert(command.end(), arguments.begin(), arguments.end());
  streams.inherited = lock_;
  return GitChild(command, environment_, streams);
}

GitOutput Git::Run(const Arguments& arguments, std::string_view input) const {
  const support::FileDescriptor text = input.empty() ? support::FileDescriptor() : TextFile(input);
  GitChild child = Start(arguments, {.input = text.get()});
  GitOutput result;
  child.Read([&](std::string_view bytes) { result.output += bytes; });
  child.Finish();
  result.status = child.status();
  result.error = child.error();
  result.words = child.Words();
  return result;
}

std::string Git::Require(const Arguments& arguments, std::string_view what,
                         std::string_view input) const {
  const GitOutput result = Run(arguments, input);
  if (result.ok()) return result.Line();
  throw support::CallError(std::string(what) + ": " +
                           (result.words.empty() ? "git failed" : result.words));
}

support::FileDescriptor TextFile(std::string_view text) {
  std::string name = (std::filesystem::temp_directory_path() / "limactl-mcp-XXXXXX").string();
  support::FileDescriptor file(::mkstemp(name.data()));
  const auto fail = [] {
    throw support::CallError("cannot write a temporary file: " +
                             std::generic_category().message(errno));
  };
  if (!file.valid()) fail();
  ::unlink(name.c_str());
  ::fcntl(file.get(), F_SETFD, FD_CLOEXEC);
  while (!text.empty()) {
    const ssize_t count = ::write(file.get(), text.data(), text.size());
    if (count < 0 && errno != EINTR) fail();
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::vector<std::string> Split(std::string_view text, char end) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find(end), text.size());
    parts.emplace_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return parts;
}

}  // namespace copy
