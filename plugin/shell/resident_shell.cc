#include "shell/resident_shell.h"

#include <charconv>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "shell/report_splitter.h"
#include "shell/resident_script.h"

namespace shell {
namespace {

using support::Clock;

constexpr std::string_view kEnded = "ended ";
constexpr std::string_view kLeft = "left ";
/// The least exit status of a loop that was killed, or could not be started.
constexpr int kKilled = 126;
constexpr std::size_t kMaximumEarlyError = 1024;
/// What a profile may print.
constexpr std::size_t kMaximumEarlyOutput = std::size_t{256} * 1024;

std::optional<int> ParseStatus(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

support::ConnectionLost ConnectionLost(const std::string& problem, ResidentShell::Effect effect,
                                       bool was_sent) {
  const bool has_effect = effect == ResidentShell::Effect::kAny;
  return {problem + (!has_effect ? "; nothing was changed in the guest"
                     : was_sent  ? "; the command may have run"
                                 : "; the command was not run"),
          was_sent && has_effect};
}

support::StopReason ReasonOf(const support::Context& context) {
  const support::StopReason reason = context.stop_reason();
  return reason == support::StopReason::kNone ? support::StopReason::kDeadline : reason;
}

}  // namespace

/// What the shell has reported. The connection's thread writes, under the lock.
class ResidentShell::Channel final : public ProcessEvents {
 public:
  explicit Channel(const std::string& marker) : output_(marker), error_(marker) {}

  void OnOutput(Stream stream, std::string_view bytes) override {
    const std::scoped_lock lock(mutex);
    (stream == Stream::kOutput ? output_ : error_)
        .Feed(
            bytes, [&](std::string_view own) { Take(stream, own); },
            [&](std::string_view words) {
              stream == Stream::kOutput ? Report(words) : void(error_ended = true);
              changed.notify_all();
            });
  }

  void OnQueued() override {
    const std::scoped_lock lock(mutex);
    queued = true;
    changed.notify_all();
  }

  void OnEnd(const ProcessEnd& process_end) override {
    const std::scoped_lock lock(mutex);
    output_.Finish([&](std::string_view own) { Take(Stream::kOutput, own); });
    error_.Finish([&](std::string_view own) { Take(Stream::kError, own); });
    end = process_end;
    changed.notify_all();
  }

  void OnClosed() override {
    const std::scoped_lock lock(mutex);
    closed = true;
  }

  enum class State { kStarting, kIdle, kRunning, kOver };

  /// The request has ended, or will never report its end.
  [[nodiscard]] bool done() const {
    if (end || sink_has_enough) return true;
    return status || loop_status ? error_ended : state == State::kOver;
  }

  std::mutex mutex;  // of all that follows
  std::condition_variable changed;
  State state = State::kStarting;
  OutputSink* sink = nullptr;
  bool sink_has_enough = false;
  bool queued = false;
  bool ready = false;              // it has been
  std::optional<int> status;       // of the request
  bool error_ended = false;        // its standard error is complete
  bool left = false;               // background processes of the request
  std::optional<int> loop_status;  // the loop has exited
  bool stopped = false;            // all processes of the session
  std::string early_error;         // before it was ready, like the next
  std::size_t early_output = 0;
  std::optional<ProcessEnd> end;
  bool closed = false;

 private:
  void Take(Stream stream, std::string_view own) {
    if (sink != nullptr) {
      const bool complete = stream == Stream::kOutput ? status.has_value() : error_ended;
      if (complete || sink_has_enough) return;
      sink_has_enough = !sink->OnOutput(stream, own);
      if (sink_has_enough) changed.notify_all();
    } else if (state == State::kStarting) {
      early_output += own.size();
      if (stream == Stream::kError)
        early_error += own.substr(0, kMaximumEarlyError - early_error.size());
      if (early_output > kMaximumEarlyOutput) {
        early_error = "it prints without end instead";
        state = State::kOver;
        changed.notify_all();
      }
    }
  }

  void Report(std::string_view words) {
    if (words == "stopped") {
      stopped = true;
      state = State::kOver;
    } else if (state == State::kOver) {
      return;
    } else if (words == "ready") {
      ready = true;
      if (state == State::kStarting) state = State::kIdle;
    } else if (words.starts_with(kEnded)) {
      loop_status = ParseStatus(words.substr(kEnded.size())).value_or(kKilled);
      state = State::kOver;
    } else if (state == State::kRunning) {
      const bool is_left = words.starts_with(kLeft);
      status = ParseStatus(is_left ? words.substr(kLeft.size()) : words);
      if (!status) return;
      left = is_left;
      state = left ? State::kOver : State::kIdle;
    }
  }

  ReportSplitter output_;
  ReportSplitter error_;
};

ResidentShell::ResidentShell(Launcher& launcher, const std::string& marker, std::string bootstrap)
    : channel_(std::make_shared<Channel>(marker)),
      process_(launcher.Start(std::string(kCommandLine), channel_)) {
  process_->Send(std::move(bootstrap));
}

ResidentShell::~ResidentShell() = default;

ResidentShell::Condition ResidentShell::condition() const {
  const std::scoped_lock lock(channel_->mutex);
  if (channel_->left && !channel_->closed) return Condition::kInUse;
  return channel_->state == Channel::State::kIdle && !channel_->end ? Condition::kIdle
                                                                    : Condition::kOver;
}

ResidentShell::Reply ResidentShell::Run(const std::string& request, Effect effect, OutputSink& sink,
                                        const support::Context& context) {
  Channel& channel = *channel_;
  support::ContextWait wait(context, channel.mutex, channel.changed);
  std::unique_lock lock(channel.mutex);
  const auto started = [&] { return channel.state != Channel::State::kStarting || channel.end; };
  if (wait.Until(lock, [&] { return started() || channel.queued; }) && !started()) {
    lock.unlock();
    sink.OnQueued();
    lock.lock();
    wait.Until(lock, started);
  }
  if (!channel.ready) return NotStarted(effect, context);
  if (channel.state != Channel::State::kIdle || channel.end) return {Reply::Kind::kNotRun, {}, ""};

  channel.state = Channel::State::kRunning;
  channel.status.reset();
  channel.error_ended = false;
  channel.sink = &sink;
  lock.unlock();
  process_->Send(request);
  sink.OnStarted();
  lock.lock();
  const bool done = wait.Until(lock, [&] { return channel.done(); });
  if (!done && effect == Effect::kAny) {
    lock.unlock();
    process_->EndInput();
    lock.lock();
    channel.changed.wait_until(lock, Clock::now() + kStopPatience,
                               [&] { return channel.end || channel.stopped; });
    channel.sink = nullptr;
    throw StoppedCommand(ReasonOf(context), channel.stopped);
  }
  channel.sink = nullptr;
  if (!done) throw support::Stopped(ReasonOf(context));
  if (channel.sink_has_enough) channel.state = Channel::State::kOver;
  return Collect(effect);
}

ResidentShell::Reply ResidentShell::NotStarted(Effect effect,
                                               const support::Context& context) const {
  const Channel& channel = *channel_;
  const std::string problem = channel.end ? channel.end->problem : "";
  if (channel.end && channel.end->connection_lost) throw ConnectionLost(problem, effect, false);
  if (!problem.empty()) throw support::CallError(problem);
  if (!channel.end && channel.state == Channel::State::kStarting) {
    throw support::Stopped(ReasonOf(context));
  }
  // Without either, it printed too much.
  const bool unfit = channel.loop_status ? *channel.loop_status < kKilled : !channel.end;
  return {unfit ? Reply::Kind::kUnfit : Reply::Kind::kNotStarted, {}, channel.early_error};
}

ResidentShell::Reply ResidentShell::Collect(Effect effect) const {
  const Channel& channel = *channel_;
  Reply reply;
  if (channel.status) {
    reply.end.exit_status = channel.status;
  } else if (channel.loop_status) {
    if (channel.loop_status == 0) reply.kind = Reply::Kind::kNotRun;
    reply.end.exit_status = channel.loop_status;
  } else if (channel.end && !channel.sink_has_enough) {
    if (channel.end->connection_lost) throw ConnectionLost(channel.end->problem, effect, true);
    reply.end.exit_signal = channel.end->exit_signal;
  }
  return reply;
}

}  // namespace shell
