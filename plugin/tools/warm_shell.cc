#include "tools/warm_shell.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <utility>

#include "support/errors.h"
#include "tools/mark.h"
#include "tools/warm_shell_script.h"

namespace tools {

/// Collects the output from the start, and wakes who waits for the shell.
class WarmShell::Sink final : public guest::OutputSink {
 public:
  Sink(const std::string& mark, std::size_t maximum_output_bytes)
      : output_(mark, maximum_output_bytes) {}

  bool OnOutput(guest::OutputStream stream, std::string_view bytes) override {
    bool more = output_.OnOutput(stream, bytes);
    if (!used_) {
      early_bytes_ += bytes.size();
      more = more && early_bytes_ <= kMaximumProfileOutput;
    }
    if (!more || output_.process_group()) Notify(!more);
    return more;
  }
  void OnEnd() override { Notify(true); }

  /// Wakes the wait below.
  void Interrupt() {
    { const std::scoped_lock lock(mutex_); }
    changed_.notify_all();
  }

  void WaitUntil(support::Clock::time_point deadline, const support::Context& context) {
    const support::Context::Registration registration = context.OnStop([this] { Interrupt(); });
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [&] {
      return ready_ || ended_ || context.stop_reason() != support::StopReason::kNone;
    });
  }

  [[nodiscard]] bool ready() const {
    const std::scoped_lock lock(mutex_);
    return ready_;
  }
  CommandOutput& output() { return output_; }

  /// From now on the output is the command's, however much it is.
  void BeginUse() { used_ = true; }

 private:
  void Notify(bool ended) {
    const std::scoped_lock lock(mutex_);
    if (ended_ || (ready_ && !ended)) return;
    ready_ = ready_ || output_.process_group().has_value();
    ended_ = ended;
    changed_.notify_all();
  }

  CommandOutput output_;
  std::atomic<bool> used_ = false;
  std::size_t early_bytes_ = 0;  // only of the connection's thread
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool ready_ = false;
  bool ended_ = false;
};

WarmShell::WarmShell(std::string directory, std::shared_ptr<Sink> sink,
                     std::unique_ptr<guest::WaitingCommand> command)
    : directory_(std::move(directory)), sink_(std::move(sink)), command_(std::move(command)) {}

WarmShell::~WarmShell() = default;

std::shared_ptr<WarmShell> WarmShell::Start(guest::Guest& guest, const std::string& directory,
                                            const std::string& shell, const Options& options,
                                            std::chrono::milliseconds delay) {
  WarmShellOptions script;
  script.directory = directory;
  script.shell = shell;
  script.mark = MakeMark();
  guest::Command command = MakeWarmShellScript(script);
  command.stop_grace = options.stop_grace;
  command.start_delay = delay;
  auto sink = std::make_shared<Sink>(script.mark, options.maximum_output_bytes);
  std::unique_ptr<guest::WaitingCommand> started = guest.StartWaiting(std::move(command), sink);
  if (!started) return nullptr;
  return std::shared_ptr<WarmShell>(
      new WarmShell(directory, std::move(sink), std::move(started)));  // private constructor
}

bool WarmShell::WaitUntilReady(support::Clock::time_point deadline,
                               const support::Context& context) {
  if (!sink_->ready() && waiting()) {
    sink_->WaitUntil(std::min(deadline, context.deadline()), context);
  }
  return sink_->ready() && waiting();
}

bool WarmShell::ready() const {
  return sink_->ready();
}

std::optional<guest::CommandResult> WarmShell::Run(const std::vector<std::string>& words,
                                                   const support::Context& context) {
  const std::string refusal = MakeMark();
  const std::optional<std::string> input = WarmShellInput(words, directory_, refusal);
  if (!input) return std::nullopt;
  sink_->BeginUse();
  try {
    const guest::CommandResult result = command_->Finish(*input, context);
    // The command has seen nothing of this word: the shell says that it must not run it, or the
    // watcher gives back the line that it was sent in, since nobody has read it.
    if (output().StandardOutput().find(refusal) != std::string::npos) return std::nullopt;
    return result;
  } catch (const support::ConnectionLost& lost) {
    if (lost.may_have_run()) throw;
    return std::nullopt;
  }
}

CommandOutput& WarmShell::output() {
  return sink_->output();
}

}  // namespace tools
