#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "shell/process.h"
#include "shell/resident_script.h"
#include "shell/resident_shell.h"
#include "support/context.h"

namespace shell {

/// The resident shells of one connection. They are started on demand and kept: a request costs one
/// round trip and one fork. Thread-safe. The launcher must outlive the shells: see Close.
class Shells {
 public:
  /// Shells at once, without those that only background processes use, if
  /// Launcher::channels_for_shells allows as many; further requests wait. One channel is kept for
  /// scripts, and two for commands if there are three.
  static constexpr std::size_t kMostCommandShells = kMaxChannels - 2;
  static constexpr std::size_t kMostScriptShells = 2;

  explicit Shells(Launcher& launcher) : launcher_(launcher) {}
  ~Shells() { Close(); }
  Shells(const Shells&) = delete;
  Shells& operator=(const Shells&) = delete;

  /// Runs a script of /bin/sh that changes nothing in the guest. Throws support::Stopped,
  /// support::ConnectionLost (the script may be repeated) and support::CallError.
  RunEnd RunScript(const std::string& script, OutputSink& sink, const support::Context& context);

  /// Runs a command as `limactl shell --workdir=DIRECTORY` does; resident_script.h lists the
  /// differences. A resident bash runs it; any other shell, or one with an unfit profile, is
  /// started for it. Never runs it twice. Throws
  /// - StoppedCommand once the command has been stopped, else support::Stopped;
  /// - support::ConnectionLost, which says whether the command may have run;
  /// - support::CallError.
  RunEnd RunCommand(const LoginCommand& command, OutputSink& sink, const support::Context& context);

  /// Closes the channel that is needed least: one that only background processes use, else an idle
  /// shell's. False if there is none.
  bool MakeRoom();

  /// Closes all shells. No request may run, and the launcher must still deliver events.
  void Close();

 private:
  struct Kind {
    bool for_commands = false;
    std::optional<std::string> login_shell;  ///< none: /bin/sh. Empty: "$SHELL"

    friend bool operator==(const Kind&, const Kind&) = default;
  };
  struct Pooled {
    Kind kind;
    std::unique_ptr<ResidentShell> shell;
  };

  ResidentShell::Reply Run(const Kind& kind, const Request& request, OutputSink& sink,
                           const support::Context& context);
  RunEnd RunInSh(const Kind& kind, const std::string& script, OutputSink& sink,
                 const support::Context& context);
  /// An idle shell of the kind; null: start one. Waits while there are too many. Return must
  /// follow.
  std::unique_ptr<ResidentShell> Take(const Kind& kind, OutputSink& sink,
                                      const support::Context& context);
  std::unique_ptr<ResidentShell> Start(const Kind& kind);
  void Return(const Kind& kind, std::unique_ptr<ResidentShell> shell);

  // With the lock held.
  /// How many shells for commands, or for scripts, may run now.
  [[nodiscard]] std::size_t Most(bool for_commands) const;
  std::unique_ptr<ResidentShell> TakeIdle(const Kind& kind);
  bool HasRoom(bool for_commands);
  bool CloseFirst(ResidentShell::Condition condition, std::optional<bool> for_commands);

  Launcher& launcher_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::vector<Pooled> pool_;              // run nothing; the least recently used first
  std::array<std::size_t, 2> running_{};  // by Kind::for_commands
  std::set<std::string> unfit_;           // login shells that are started for each command
};

}  // namespace shell
