#include "ssh/waiting_command.h"

#include <utility>

namespace ssh {

/// What the session's thread uses for as long as it likes, whether anybody still waits or not.
struct WaitingCommand::Work {
  Work(guest::Command given, std::shared_ptr<guest::OutputSink> output,
       support::Clock::duration request_timeout)
      : command(std::move(given)), sink(std::move(output)), run(command, *sink, request_timeout) {}

  guest::Command command;
  std::shared_ptr<guest::OutputSink> sink;
  CommandRun run;
};

WaitingCommand::WaitingCommand(std::shared_ptr<SessionLoop> loop, std::shared_ptr<Work> work,
                               std::function<void()> on_finished)
    : loop_(std::move(loop)),
      work_(std::move(work)),
      run_(work_, &work_->run),
      on_finished_(std::move(on_finished)) {}

std::unique_ptr<WaitingCommand> WaitingCommand::Start(std::shared_ptr<SessionLoop> loop,
                                                      guest::Command command,
                                                      std::shared_ptr<guest::OutputSink> sink,
                                                      Options options) {
  auto work = std::make_shared<Work>(std::move(command), std::move(sink), loop->request_timeout());
  std::unique_ptr<WaitingCommand> waiting(
      // private constructor
      new WaitingCommand(std::move(loop), std::move(work), std::move(options.on_finished)));
  if (!waiting->loop_->Start(waiting->run_, options.delay)) return nullptr;
  return waiting;
}

WaitingCommand::~WaitingCommand() {
  loop_->GiveUp(run_);
}

bool WaitingCommand::waiting() const {
  return loop_->alive() && !run_->completion().finished();
}

guest::CommandResult WaitingCommand::Finish(const std::string& input,
                                            const support::Context& context) {
  return Finish(input, {}, context);
}

guest::CommandResult WaitingCommand::Finish(const std::string& input, std::function<bool()> taken,
                                            const support::Context& context) {
  loop_->Use(run_, input, std::move(taken), context);
  if (on_finished_) on_finished_();
  return run_->result();
}

}  // namespace ssh
