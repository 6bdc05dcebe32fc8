// SPDX-License-Identifier: Apache-2.0
#include "git/git.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

#include "support/environment.h"
#include "support/errors.h"
#include "support/join.h"
#include "support/printable.h"
#include "support/units.h"
#include "support/words.h"

namespace git {
namespace {

/// Bytes of git's messages that an error quotes.
constexpr std::size_t kMaxErrorLine = 400;

/// CPU seconds, and KiB of memory without mapped files, which macOS does not limit.
constexpr const char* kLimits =
    "{ ulimit -c 0; ulimit -t 600; ulimit -d 1400000; } 2>/dev/null; exec \"$@\"";

/// An unlinked file with this text, read from its beginning.
support::FileDescriptor TextFile(const std::string& text) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0) {
    throw support::Error("cannot write a temporary file: {}",
                         std::generic_category().message(errno));
  }
  std::rewind(file.get());
  return support::FileDescriptor(::fcntl(::fileno(file.get()), F_DUPFD_CLOEXEC, 0));
}

}  // namespace

std::string Unchanged(const std::string& problem) {
  return support::Format("{}. Nothing was changed.", problem);
}

std::string ErrorLine(const support::Child& git) {
  const int signal = git.exit_code() - 128;
  std::string chosen =
      signal > 0 ? support::Format("git was killed by signal {}", signal) : "git failed";
  for (const std::string& line : Split(git.error(), '\n')) {
    if (line.starts_with("warning: ")) continue;
    chosen = line;
    if (line.starts_with("fatal: ") || line.starts_with("error: ")) break;
  }
  return support::Printable(chosen.substr(0, kMaxErrorLine));
}

void RequireSuccess(support::Child& git, std::string_view what) {
  if (git.Finish() != 0) throw support::Error("{}: {}", what, ErrorLine(git));
}

std::string GitOutput::Line() const {
  return output.ends_with('\n') ? output.substr(0, output.size() - 1) : output;
}

Git Git::Neutral(const std::filesystem::path& repository, int lock, Limits limits) {
  Git git;
  git.lock_ = lock;
  if (limits == Limits::kStrict) git.command_ = {"/bin/sh", "-c", kLimits, "sh"};
  git.command_.insert(git.command_.end(), {"git", "--git-dir=" + repository.string(), "-c",
                                           "core.hooksPath=/dev/null"});
  git.environment_ = support::Changed(
      support::OwnEnvironment(),
      "* +PATH +GIT_EXEC_PATH LC_ALL=C HOME=/nonexistent GIT_CONFIG_GLOBAL=/dev/null "
      "GIT_CONFIG_NOSYSTEM=1 GIT_ATTR_NOSYSTEM=1 GIT_NO_REPLACE_OBJECTS=1 GIT_NO_LAZY_FETCH=1 "
      "GIT_ALLOW_PROTOCOL=none GIT_TERMINAL_PROMPT=0 GIT_ALLOC_LIMIT=1g "
      "GIT_DEFAULT_REF_FORMAT=files");
  return git;
}

Git Git::Users(const std::filesystem::path& project, int lock) {
  Git git;
  git.lock_ = lock;
  git.command_ = {"git", "-C", project.string()};
  for (const char* setting :
       {"core.hooksPath=/dev/null", "hook.reference-transaction.enabled=false",
        "hook.post-index-change.enabled=false", "core.fsmonitor=false", "core.splitIndex=false",
        "core.safecrlf=false", "gc.auto=0", "maintenance.auto=false"}) {
    git.command_.insert(git.command_.end(), {"-c", setting});
  }
  git.environment_ = support::Changed(
      support::OwnEnvironment(),
      "GIT_* +GIT_CONFIG_GLOBAL +GIT_CONFIG_SYSTEM +GIT_CONFIG_NOSYSTEM +GIT_EXEC_PATH "
      "GIT_NO_REPLACE_OBJECTS=1 GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 GIT_NO_LAZY_FETCH=1 "
      "GIT_ALLOW_PROTOCOL=none LANGUAGE=C");
  return git;
}

Git Git::With(const support::Environment& variables) const {
  Git git = *this;
  for (const auto& [name, value] : variables) git.environment_[name] = value;
  return git;
}

Git Git::In(const std::filesystem::path& working_tree, std::chrono::seconds time) const {
  Git git = *this;
  const std::string top = working_tree.string();
  git.command_.insert(git.command_.end(), {"-C", top, "--work-tree=" + top});
  git.time_ = time;
  return git;
}

support::Child Git::Start(const Arguments& arguments, support::SpawnStreams streams) const {
  std::vector<std::string> command = command_;
  command.insert(command.end(), arguments.begin(), arguments.end());
  streams.inherited = lock_;
  if (streams.output < 0) streams.output = support::Child::kPipe;
  return support::Child(command, streams, environment_);
}

support::Context Git::Deadline() const {
  return time_ ? support::Context().WithTimeout(*time_) : support::Context();
}

std::string Git::StoppedText() const {
  return support::Format(
      "git was stopped after {}. If it waits for a pipe, find . -type p lists it",
      support::FormatDuration(*time_));
}

void Git::Read(const Arguments& arguments, const std::function<bool(std::string_view)>& on_output,
               std::string_view what, const std::string& input) const try {
  const support::FileDescriptor text = TextFile(input);
  support::Child git = Start(arguments, {.input = text.get()});
  for (bool has_ended = false; !has_ended;) {
    has_ended = true;
    bool wanted = true;
    git.Read(
        [&](std::string_view bytes) {
          wanted = on_output(bytes);
          has_ended = false;
          return false;  // go on with another deadline
        },
        Deadline());
    if (!wanted) return;
  }
  git.Finish(Deadline());
  // The user ended it, by the pager or with Ctrl-C.
  if (git.exit_code() == 128 + SIGPIPE || git.exit_code() == 128 + SIGINT) return;
  RequireSuccess(git, what);
} catch (const support::Stopped&) {
  throw support::Error("{}: {}", what, StoppedText());
}

GitOutput Git::Run(const Arguments& arguments, const std::string& input) const {
  const support::Context context = Deadline();
  const support::FileDescriptor text = TextFile(input);
  support::Child child = Start(arguments, {.input = text.get()});
  GitOutput result;
  try {
    child.Read(
        [&](std::string_view bytes) {
          result.output += bytes;
          return result.output.size() <= kMaxOutput;
        },
        context);
    result.is_cut = result.output.size() > kMaxOutput;
    if (result.is_cut) return result;
    result.status = child.Finish(context);
    result.error = child.error();
    result.error_line = ErrorLine(child);
  } catch (const support::Stopped&) {
    result.status = 1;
    result.error_line = StoppedText();
  }
  return result;
}

std::string Git::Require(const Arguments& arguments, std::string_view what,
                         const std::string& input) const {
  const GitOutput result = Run(arguments, input);
  if (result.is_cut) throw support::Error("{}: too much output", what);
  if (!result.ok()) throw support::Error("{}: {}", what, result.error_line);
  return result.Line();
}

std::string EachWithNul(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) text += path + '\0';
  return text;
}

std::string Excluding(const std::vector<std::string>& ids) {
  std::string lines;
  for (const std::string& id : ids) lines += "^" + id + "\n";
  return lines;
}

std::pair<std::string, std::string> KeyAndValue(const std::string& setting) {
  const std::size_t end = std::min(setting.find('\n'), setting.size());
  return {setting.substr(0, end), setting.substr(std::min(end + 1, setting.size()))};
}

bool IsNewEnough(const std::string& version, int minor) {
  std::pair<int, int> found;
  return std::sscanf(version.c_str(), "git version %d.%d", &found.first, &found.second) == 2 &&
         found >= std::pair(2, minor);
}

}  // namespace git
