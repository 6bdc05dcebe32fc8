#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guest/guest.h"
#include "support/context.h"
#include "tools/capped_output.h"
#include "tools/command_output.h"

namespace tools {

/// One login shell that was started ahead of its command; warm_shell_script.h tells how the guest's
/// side works. One thread at a time. The destructor ends a shell that has not been used.
class WarmShell {
 public:
  /// Bytes that a shell may print before its command comes; one that prints more is given up.
  static constexpr std::size_t kMaximumProfileOutput = std::size_t{256} << 10;

  struct Options {
    std::size_t maximum_output_bytes = kDefaultMaximumOutput;  ///< of each stream of a command
    std::chrono::milliseconds stop_grace{0};                   ///< see guest::Command
  };

  /// Null where the guest starts none (guest::Guest::StartWaiting, whose errors it throws); where
  /// it has no channel to spare, waiting() soon is false. `shell` as in WarmShellOptions, `delay`
  /// as in guest::Command.
  static std::shared_ptr<WarmShell> Start(guest::Guest& guest, const std::string& directory,
                                          const std::string& shell, const Options& options,
                                          std::chrono::milliseconds delay = {});
  ~WarmShell();
  WarmShell(const WarmShell&) = delete;
  WarmShell& operator=(const WarmShell&) = delete;

  /// Waits until the shell has run the profile. False when it is not ready by `deadline`, or
  /// never will be, or the context is stopped.
  bool WaitUntilReady(support::Clock::time_point deadline, const support::Context& context);

  [[nodiscard]] bool ready() const;

  /// Whether it still waits for its command, ready or not.
  [[nodiscard]] bool waiting() const { return command_->waiting(); }

  /// Runs a command in a ready shell and returns when it has ended, as guest::Guest::Run does.
  /// Nothing where it was not run: the command is not one for a waiting shell, the shell was gone,
  /// or its directory is not the same any more. Once.
  std::optional<guest::CommandResult> Run(const std::vector<std::string>& words,
                                          const support::Context& context);

  /// Of the profile and the command.
  [[nodiscard]] CommandOutput& output();

  [[nodiscard]] support::Clock::time_point started() const { return started_; }

 private:
  class Sink;
  WarmShell(std::string directory, std::shared_ptr<Sink> sink,
            std::unique_ptr<guest::WaitingCommand> command);

  std::string directory_;
  support::Clock::time_point started_ = support::Clock::now();
  std::shared_ptr<Sink> sink_;
  std::unique_ptr<guest::WaitingCommand> command_;
};

}  // namespace tools
