#pragma once

#include <functional>
#include <memory>
#include <string>

#include "guest/guest.h"
#include "ssh/session_loop.h"

namespace ssh {

/// A spare command of a session (see CommandRun) in the hands of its user.
class WaitingCommand final : public guest::WaitingCommand {
 public:
  struct Options {
    support::Clock::duration delay{};   ///< before it is started; at once where it is used before
    std::function<void()> on_finished;  ///< called by Finish, where the command has been run
  };

  /// Null when the session has ended.
  static std::unique_ptr<WaitingCommand> Start(std::shared_ptr<SessionLoop> loop,
                                               guest::Command command,
                                               std::shared_ptr<guest::OutputSink> sink,
                                               Options options);
  ~WaitingCommand() override;
  WaitingCommand(const WaitingCommand&) = delete;
  WaitingCommand& operator=(const WaitingCommand&) = delete;

  [[nodiscard]] bool waiting() const override;
  guest::CommandResult Finish(const std::string& input, const support::Context& context) override;
  /// The same; `taken` as in SessionLoop::Use.
  guest::CommandResult Finish(const std::string& input, std::function<bool()> taken,
                              const support::Context& context);

 private:
  struct Work;
  WaitingCommand(std::shared_ptr<SessionLoop> loop, std::shared_ptr<Work> work,
                 std::function<void()> on_finished);

  std::shared_ptr<SessionLoop> loop_;
  std::shared_ptr<Work> work_;
  std::shared_ptr<CommandRun> run_;  // of `work_`
  std::function<void()> on_finished_;
};

}  // namespace ssh
