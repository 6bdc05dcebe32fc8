#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "shell/process.h"
#include "shell/resident_script.h"
#include "shell/resident_shell.h"
#include "support/context.h"

namespace shell {

/// The resident shells of one connection. They are started on demand and kept for the next request:
/// a request costs one round trip and one fork. Thread-safe. The launcher must outlive it, and must
/// still deliver events while the destructor runs.
class Shells {
 public:
  /// Beyond these, the least recently used idle shells are closed.
  static constexpr std::size_t kMostIdleLogin = 4;
  static constexpr std::size_t kMostIdleScript = 2;

  /// How long the destructor waits for the word whether a command left background processes, which
  /// are to live on.
  static constexpr std::chrono::milliseconds kSettleTime{500};

  explicit Shells(Launcher& launcher) : launcher_(launcher) {}
  ~Shells();
  Shells(const Shells&) = delete;
  Shells& operator=(const Shells&) = delete;

  /// Runs a script of /bin/sh that changes nothing in the guest. Throws support::Stopped,
  /// support::ConnectionLost (the script may always be repeated) and support::CallError.
  RunEnd RunScript(const std::string& script, OutputSink& sink, const support::Context& context);

  /// Runs a command as `limactl shell --workdir=DIRECTORY` does; resident_script.h names the
  /// differences. A bash that has read the profile before runs it; any other shell, or one whose
  /// profile makes it unfit, is started for it. Never runs it twice. Throws
  /// - StoppedCommand once the command has been stopped, else support::Stopped;
  /// - support::ConnectionLost, which says whether the command may have run;
  /// - support::CallError.
  RunEnd RunCommand(const LoginCommand& command, OutputSink& sink, const support::Context& context);

  /// Closes the channel that is needed least: one that only background processes use, else the
  /// least recently used idle one. False if there is none.
  bool MakeRoom();

 private:
  /// What tells shells apart.
  struct Kind {
    bool is_login = false;
    std::string directory;
    std::string shell;

    friend bool operator==(const Kind&, const Kind&) = default;
  };
  struct Kept {
    Kind kind;
    std::unique_ptr<ResidentShell> shell;
  };

  /// A request whose shell has been started for it.
  struct Waiting {
    const Kind& kind;
    ResidentShell& shell;
    std::unique_ptr<ResidentShell> instead;  ///< one that has become free
  };

  ResidentShell::Reply Run(const Kind& kind, const std::string& request,
                           ResidentShell::Effect effect, OutputSink& sink,
                           const support::Context& context);
  RunEnd RunInScriptShell(const std::string& script, ResidentShell::Effect effect, OutputSink& sink,
                          const support::Context& context);
  /// Runs the request in a shell that is being started, unless `instead` becomes free while it
  /// waits for a channel.
  ResidentShell::Reply RunInNew(const Kind& kind, const std::string& request,
                                ResidentShell::Effect effect, OutputSink& sink,
                                const support::Context& context,
                                std::unique_ptr<ResidentShell>& instead);
  std::unique_ptr<ResidentShell> Start(const Kind& kind);
  std::unique_ptr<ResidentShell> Take(const Kind& kind);
  void Keep(const Kind& kind, std::unique_ptr<ResidentShell> shell);
  /// To the request that has waited longest; false if it needs no shell of this kind.
  bool PassOn(const Kind& kind, std::unique_ptr<ResidentShell>& shell);

  Launcher& launcher_;
  std::mutex mutex_;             // of what follows
  std::vector<Kept> kept_;       // run nothing; the least recently used first
  std::list<Waiting> waiting_;   // who has waited longest first
  std::set<std::string> unfit_;  // login shells that are started for each command
};

}  // namespace shell
