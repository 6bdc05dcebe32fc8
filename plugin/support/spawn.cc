#include "support/spawn.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>
#include <system_error>

// Declared by the GNU headers only.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables,readability-redundant-declaration)
extern "C" char** environ;

namespace support {
namespace {

void Require(int error) {
  if (error != 0) throw std::system_error(error, std::generic_category(), "posix_spawn");
}

/// Owns posix_spawn's attributes and actions.
class Setup {
 public:
  // The delegated constructor has completed, so the destructor runs if the rest throws.
  Setup(const SpawnStreams& streams, SpawnSession session) : Setup() {
    Connect(streams.input, STDIN_FILENO, O_RDONLY);
    Connect(streams.output, STDOUT_FILENO, O_WRONLY);
    Connect(streams.error, STDERR_FILENO, O_WRONLY);
    // This program ignores or blocks these; the child must not.
    sigset_t signals{};
    sigemptyset(&signals);
    Require(::posix_spawnattr_setsigmask(&attributes_, &signals));
    for (const int number : {SIGPIPE, SIGXFSZ, SIGTERM, SIGINT, SIGHUP}) {
      sigaddset(&signals, number);
    }
    Require(::posix_spawnattr_setsigdefault(&attributes_, &signals));
    int flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    if (session == SpawnSession::kOwn) flags |= POSIX_SPAWN_SETSID;
#ifdef __APPLE__
    // Without pipe2() another thread's descriptor may not be close-on-exec yet.
    flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
    Require(::posix_spawnattr_setflags(&attributes_, static_cast<short>(flags)));
  }
  ~Setup() {
    ::posix_spawnattr_destroy(&attributes_);
    ::posix_spawn_file_actions_destroy(&actions_);
  }
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  [[nodiscard]] const posix_spawn_file_actions_t* actions() const {
    return &actions_;
  }
  [[nodiscard]] const posix_spawnattr_t* attributes() const {
    return &attributes_;
  }

 private:
  Setup() {
    Require(::posix_spawn_file_actions_init(&actions_));
    const int error = ::posix_spawnattr_init(&attributes_);
    if (error != 0) ::posix_spawn_file_actions_destroy(&actions_);
    Require(error);
  }

  void Connect(int from, int to, int mode) {
    Require(from < 0 ? ::posix_spawn_file_actions_addopen(&actions_, to, "/dev/null", mode, 0)
                     : ::posix_spawn_file_actions_adddup2(&actions_, from, to));
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

pid_t Spawn(const std::vector<std::string>& command, const SpawnStreams& streams,
            SpawnSession session) {
  const Setup setup(streams, session);
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, words.front().c_str(), setup.actions(), setup.attributes(),
                                   arguments.data(), environ);
  if (error != 0) throw std::system_error(error, std::generic_category(), words.front());
  return pid;
}

}  // namespace support
