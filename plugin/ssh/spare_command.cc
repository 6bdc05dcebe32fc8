#include "ssh/spare_command.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ssh/waiting_command.h"
#include "support/errors.h"

namespace ssh {

/// Keeps what comes before there is somebody to give it to. All of it runs on the thread that owns
/// the session, which asks nothing of it once the command has ended.
class SpareCommand::EarlyOutput final : public guest::OutputSink {
 public:
  /// Gives `sink` what has come, and what comes from now on. False when it wants no more.
  bool Attach(guest::OutputSink& sink) {
    sink_ = &sink;
    const auto early = std::exchange(early_, {});
    return std::all_of(early.begin(), early.end(), [&sink](const auto& piece) {
      return sink.OnOutput(piece.first, piece.second);
    });
  }

  bool OnOutput(guest::OutputStream stream, std::string_view bytes) override {
    if (sink_ != nullptr) return sink_->OnOutput(stream, bytes);
    early_bytes_ += bytes.size();
    if (early_bytes_ > kMostEarlyOutput) return false;
    early_.emplace_back(stream, bytes);
    return true;
  }

  void OnEnd() override {
    if (sink_ != nullptr) sink_->OnEnd();
  }

 private:
  std::vector<std::pair<guest::OutputStream, std::string>> early_;
  std::size_t early_bytes_ = 0;
  guest::OutputSink* sink_ = nullptr;
};

struct SpareCommand::Waiting {
  guest::Command started;  ///< without its input
  std::shared_ptr<EarlyOutput> output;
  std::unique_ptr<WaitingCommand> command;
};

SpareCommand::SpareCommand(std::shared_ptr<SessionLoop> loop) : loop_(std::move(loop)) {}

SpareCommand::~SpareCommand() = default;

std::unique_ptr<SpareCommand::Waiting> SpareCommand::Take(const guest::Command& command) {
  const std::scoped_lock lock(mutex_);
  if (!waiting_ || waiting_->started.command_line != command.command_line) return nullptr;
  return std::exchange(waiting_, nullptr);
}

std::optional<guest::CommandResult> SpareCommand::Run(const guest::Command& command,
                                                      guest::OutputSink& sink,
                                                      const support::Context& context) {
  const std::unique_ptr<Waiting> waiting = Take(command);
  if (!waiting || !waiting->command->waiting()) return std::nullopt;
  // Not before the input is taken: one that has ended by then is run anew, with the same sink.
  const auto attach = [output = waiting->output, &sink] { return output->Attach(sink); };
  try {
    return waiting->command->Finish(command.standard_input, attach, context);
  } catch (const support::ConnectionLost& lost) {
    // It had ended, or did not come up: one that is started now may.
    if (lost.may_have_run() || !loop_->alive()) throw;
    return std::nullopt;
  }
}

void SpareCommand::StartNext(const guest::Command& command) {
  const std::scoped_lock lock(mutex_);
  if (waiting_ && waiting_->command->waiting()) return;
  guest::Command ahead = command;
  ahead.standard_input.clear();
  ahead.on_queued = {};  // of a call that is over, with all that it refers to
  Start(std::move(ahead), {});
}

void SpareCommand::Renew() {
  const std::scoped_lock lock(mutex_);
  // Where there is none it is in use, and whoever uses it starts the next one.
  if (waiting_) Start(waiting_->started, kRenewalDelay);
}

void SpareCommand::Start(guest::Command command, support::Clock::duration delay) {
  auto next = std::make_unique<Waiting>();
  next->started = command;
  next->output = std::make_shared<EarlyOutput>();
  WaitingCommand::Options options;
  options.delay = delay;
  next->command =
      WaitingCommand::Start(loop_, std::move(command), next->output, std::move(options));
  waiting_ = next->command ? std::move(next) : nullptr;
}

}  // namespace ssh
