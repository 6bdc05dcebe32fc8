// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "shell/process.h"
#include "shell/request.h"
#include "shell/resident_script.h"
#include "shell/shell_session.h"
#include "support/context.h"

namespace shell {

/// The resident shells of one connection. They are started on demand and kept: a request costs one
/// round trip and one fork. Thread-safe. The launcher must outlive the shells: see Close.
class Shells {
 public:
  /// Shells for scripts at once, if there are channels enough; further requests wait. One channel
  /// is kept for scripts, and two for commands if there are three.
  static constexpr std::size_t kMaxScriptShells = 2;

  /// How long a stopped command may take to end.
  static constexpr std::chrono::seconds kStopTimeout{10};

  /// How long Close waits to hear whether a finished command left background processes. They must
  /// survive.
  static constexpr std::chrono::seconds kSettleTimeout{1};

  explicit Shells(Launcher& launcher) : launcher_(launcher) {}
  virtual ~Shells() { Close(); }
  Shells(const Shells&) = delete;
  Shells& operator=(const Shells&) = delete;

  /// Throws support::Stopped, support::ConnectionLost (the script may be repeated) and
  /// support::Error.
  virtual RunEnd RunScript(const Script& script, OutputSink& sink, const support::Context& context);

  /// Runs a command as `limactl shell --workdir=DIRECTORY` does; resident_script.h lists the
  /// differences. A resident bash runs it; any other shell, or one with an unfit profile, is
  /// started for it. Never runs it twice. Throws
  /// - StoppedCommand once the command has been stopped, else support::Stopped;
  /// - support::ConnectionLost, which says whether the command may have run;
  /// - support::Error.
  virtual RunEnd RunCommand(const LoginCommand& command, OutputSink& sink,
                            const support::Context& context);

  /// Closes the channel that is needed least: one that only background processes use, else an idle
  /// shell's. False if there is none.
  bool MakeRoom();

  /// What uses the channels, without `self`: "1 command runs (make -j4, 3 min), 6 processes run".
  [[nodiscard]] std::string Running(const OutputSink* self = nullptr) const;

  /// How many channels they may use now, and how many long-running processes use. Returns whether
  /// the commands that run leave one of the first to scripts.
  bool SetChannels(std::size_t channels, std::size_t processes);
  [[nodiscard]] std::size_t channels() const;

  /// Closes all shells. No request may run, and the launcher must still deliver events.
  void Close();

 private:
  struct Shell {
    bool for_commands;
    std::string program;                    ///< of resident_script.h
    std::shared_ptr<ShellSession> session;  ///< null: not started
    std::string kept;                       ///< ShellRequest::kept of its last request that had one
  };
  struct RunResult {
    enum class Kind {
      kDone,        ///< see `end`
      kNotRun,      ///< the shell exited before, or its profile has changed: use another
      kNotStarted,  ///< the shell could not be started, or was killed: see `error`
      kUnfit,       ///< the shell never gets ready: see `error`
    };
    Kind kind = Kind::kDone;
    RunEnd end;
    std::string error;
  };
  /// The commands, or the scripts.
  struct Queue {
    std::list<const OutputSink*> running;
    std::list<const OutputSink*> waiting;  ///< the first is served next
  };

  RunResult Run(bool for_commands, const std::string& program, const ShellRequest& request,
                OutputSink& sink, const support::Context& context);
  RunEnd RunInSh(bool for_commands, const Script& script, OutputSink& sink,
                 const support::Context& context);
  /// A free shell with the program, or one to be started. Waits while there are too many, or while
  /// it is unknown whether one is free: that is cheaper than a start. Release must follow.
  Shell Acquire(bool for_commands, const std::string& program, OutputSink& sink,
                const support::Context& context);
  void Release(Shell shell, const OutputSink& sink, bool may_keep);
  /// After an exception the shell must be closed.
  RunResult RunIn(Shell& shell, const ShellRequest& request, OutputSink& sink,
                  const support::Context& context);

  // With the lock held.
  Queue& QueueOf(bool for_commands) { return queues_.at(for_commands ? 1 : 0); }
  /// How many shells for commands, or for scripts, may run now.
  std::size_t MaxRunning(bool for_commands);
  /// Moves a free shell with the program into `shell`, or determines that one may be started.
  bool Provide(Shell& shell);
  bool HasRoom(bool for_commands);
  template <typename Predicate>
  bool CloseFirst(Predicate predicate);

  Launcher& launcher_;
  const std::shared_ptr<SessionLock> session_lock_ =
      std::make_shared<SessionLock>();  // of what follows
  std::vector<Shell> pool_;             // run nothing; the least recently used first
  std::array<Queue, 2> queues_;
  std::set<std::string> unfit_;  // login shells that are started for each command
  std::size_t channels_ = kMaxChannels - 1;
  std::size_t processes_ = 0;
};

}  // namespace shell
