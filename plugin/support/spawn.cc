#include "support/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>
#include <system_error>

// Only the GNU headers declare it.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables,readability-redundant-declaration)
extern "C" char** environ;

namespace support {
namespace {

/// Ends with null. Valid as long as `words`.
std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Variables OwnVariables() {
  Variables variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
  return variables;
}

pid_t Spawn(const std::vector<std::string>& command, const SpawnStreams& streams,
            SpawnSession session, const Variables& environment) {
  std::vector<std::string> words = command;
  std::vector<std::string> variables = environment;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  int error = ::posix_spawn_file_actions_init(&actions);
  const auto note = [&](int result) { error = error == 0 ? result : error; };
  note(::posix_spawnattr_init(&attributes));
  const auto connect = [&](int from, int to, int mode) {
    note(from < 0 ? ::posix_spawn_file_actions_addopen(&actions, to, "/dev/null", mode, 0)
                  : ::posix_spawn_file_actions_adddup2(&actions, from, to));
  };
  connect(streams.input, STDIN_FILENO, O_RDONLY);
  connect(streams.output, STDOUT_FILENO, O_WRONLY);
  connect(streams.error, STDERR_FILENO, O_WRONLY);
  // Onto itself: it is no longer closed on exec.
  if (streams.inherited >= 0) connect(streams.inherited, streams.inherited, 0);
  // This program ignores or blocks these signals; the child must not.
  sigset_t signals{};
  sigemptyset(&signals);
  note(::posix_spawnattr_setsigmask(&attributes, &signals));
  for (const int number : {SIGPIPE, SIGXFSZ, SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
  note(::posix_spawnattr_setsigdefault(&attributes, &signals));
  int flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
  if (session == SpawnSession::kOwn) flags |= POSIX_SPAWN_SETSID;
#ifdef __APPLE__
  // Without pipe2() another thread's descriptor may not be close-on-exec yet.
  flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
  note(::posix_spawnattr_setflags(&attributes, static_cast<short>(flags)));
  pid_t pid = -1;
  if (error == 0) {
    error = ::posix_spawnp(&pid, words.front().c_str(), &actions, &attributes,
                           Pointers(words).data(), Pointers(variables).data());
  }
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), words.front());
  return pid;
}

}  // namespace support
