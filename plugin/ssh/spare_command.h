#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

#include "guest/guest.h"
#include "ssh/session_loop.h"

namespace ssh {

/// Keeps one command started ahead of its need, for those that are wanted again and again (see
/// guest::Command::may_be_started_ahead): what a channel, sshd and the user's shell take to start
/// is then paid while nobody waits. The session ends the one that waits when another command may
/// have changed what it was started with; Renew starts it anew. Thread-safe.
class SpareCommand {
 public:
  /// Bytes that a command may print before it has its input; one that prints more is not used.
  static constexpr std::size_t kMostEarlyOutput = std::size_t{64} * 1024;

  explicit SpareCommand(std::shared_ptr<SessionLoop> loop);
  ~SpareCommand();
  SpareCommand(const SpareCommand&) = delete;
  SpareCommand& operator=(const SpareCommand&) = delete;

  /// As guest::Guest::Run, in the command that waits. Nothing where none does: nothing has been
  /// sent then.
  std::optional<guest::CommandResult> Run(const guest::Command& command, guest::OutputSink& sink,
                                          const support::Context& context);

  /// Starts the next one, unless one waits.
  void StartNext(const guest::Command& command);

  /// To be called when another command has ended that may have changed the guest. The one that
  /// waits is replaced, after kRenewalDelay: commands that follow each other more closely do not
  /// each start one.
  void Renew();

  static constexpr auto kRenewalDelay = std::chrono::milliseconds(100);

 private:
  class EarlyOutput;
  struct Waiting;

  std::unique_ptr<Waiting> Take(const guest::Command& command);
  void Start(guest::Command command, support::Clock::duration delay);  ///< under the lock

  std::shared_ptr<SessionLoop> loop_;
  std::mutex mutex_;
  std::unique_ptr<Waiting> waiting_;  // guarded by it
};

}  // namespace ssh
