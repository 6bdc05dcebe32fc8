#include "ssh/spare_command.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ssh/waiting_command.h"
#include "support/errors.h"

namespace ssh {

/// Keeps what comes before there is somebody to give it to.
class SpareCommand::EarlyOutput final : public guest::OutputSink {
 public:
  /// Gives `sink` what has come, and what comes as long as the result lives.
  [[nodiscard]] auto Attach(guest::OutputSink& sink) {
    const std::scoped_lock lock(mutex_);
    for (const auto& [stream, bytes] : early_) sink.OnOutput(stream, bytes);
    early_.clear();
    sink_ = &sink;
    const auto detach = [](EarlyOutput* output) {
      const std::scoped_lock detaching(output->mutex_);
      output->sink_ = nullptr;
      output->is_over_ = true;
    };
    return std::unique_ptr<EarlyOutput, decltype(detach)>(this, detach);
  }

  bool OnOutput(guest::OutputStream stream, std::string_view bytes) override {
    const std::scoped_lock lock(mutex_);
    if (sink_ != nullptr) return sink_->OnOutput(stream, bytes);
    early_bytes_ += bytes.size();
    if (is_over_ || early_bytes_ > kMostEarlyOutput) return false;
    early_.emplace_back(stream, bytes);
    return true;
  }

  void OnEnd() override {
    const std::scoped_lock lock(mutex_);
    if (sink_ != nullptr) sink_->OnEnd();
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<guest::OutputStream, std::string>> early_;
  std::size_t early_bytes_ = 0;
  guest::OutputSink* sink_ = nullptr;
  bool is_over_ = false;
};

struct SpareCommand::Waiting {
  std::string command_line;
  std::shared_ptr<EarlyOutput> output;
  std::unique_ptr<guest::WaitingCommand> command;
};

SpareCommand::SpareCommand(std::shared_ptr<SessionLoop> loop) : loop_(std::move(loop)) {}

SpareCommand::~SpareCommand() = default;

std::unique_ptr<SpareCommand::Waiting> SpareCommand::Take(const guest::Command& command) {
  const std::scoped_lock lock(mutex_);
  if (!waiting_ || waiting_->command_line != command.command_line) return nullptr;
  return std::exchange(waiting_, nullptr);
}

std::optional<guest::CommandResult> SpareCommand::Run(const guest::Command& command,
                                                      guest::OutputSink& sink,
                                                      const support::Context& context) {
  const std::unique_ptr<Waiting> waiting = Take(command);
  if (!waiting || !waiting->command->waiting()) return std::nullopt;
  const auto attached = waiting->output->Attach(sink);
  try {
    return waiting->command->Finish(command.standard_input, context);
  } catch (const support::ConnectionLost& lost) {
    // It had ended, or did not come up: one that is started now may.
    if (lost.may_have_run() || !loop_->alive()) throw;
    return std::nullopt;
  }
}

void SpareCommand::StartNext(const guest::Command& command) {
  const std::scoped_lock lock(mutex_);
  if (waiting_ && waiting_->command->waiting()) return;
  auto next = std::make_unique<Waiting>();
  next->command_line = command.command_line;
  next->output = std::make_shared<EarlyOutput>();
  guest::Command without_input = command;
  without_input.standard_input.clear();
  next->command = WaitingCommand::Start(loop_, std::move(without_input), next->output);
  waiting_ = next->command ? std::move(next) : nullptr;
}

}  // namespace ssh
