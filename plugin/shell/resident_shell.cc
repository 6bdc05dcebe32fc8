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
using Lock = std::unique_lock<std::mutex>;

constexpr std::string_view kEnded = "ended ";
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
  const char* const outcome = effect == ResidentShell::Effect::kNone
                                  ? "; nothing was changed in the guest"
                              : was_sent ? "; the command may have run"
                                         : "; the command was not run";
  return {problem + outcome, was_sent && effect == ResidentShell::Effect::kAny};
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

  [[nodiscard]] bool flooded() const { return early_output > kMaximumEarlyOutput; }
  /// Runs no more requests.
  [[nodiscard]] bool over() const { return end || flooded() || !retired.empty(); }
  [[nodiscard]] bool ended() const { return retired.starts_with(kEnded); }
  /// The request has ended, or will never report its end.
  [[nodiscard]] bool done() const {
    if (end || sink_has_enough) return true;
    if (status) return error_ended;
    return !retired.empty() && (error_ended || !ended());
  }

  std::mutex mutex;  // of all that follows
  std::condition_variable changed;
  OutputSink* sink = nullptr;
  bool sink_has_enough = false;
  bool queued = false;
  bool ready = false;
  bool accepts = false;       // the loop waits for a request, or runs the one that was sent
  std::optional<int> status;  // of the request
  bool error_ended = false;   // its standard error is complete
  std::string retired;        // the report after which it runs no more requests
  std::string early_error;    // before it was ready, like the next
  std::size_t early_output = 0;
  std::optional<ProcessEnd> end;

 private:
  /// While the shell settles, background processes of the last request may print.
  [[nodiscard]] bool IsOfRequest(Stream stream) const {
    return accepts || (stream == Stream::kError && status && !error_ended);
  }

  void Take(Stream stream, std::string_view own) {
    if (sink != nullptr && !sink_has_enough) {
      if (!IsOfRequest(stream)) return;
      sink_has_enough = !sink->OnOutput(stream, own);
      if (sink_has_enough) changed.notify_all();
    } else if (!ready && !flooded()) {
      early_output += own.size();
      if (stream == Stream::kError) {
        early_error += own.substr(0, kMaximumEarlyError - early_error.size());
      }
      if (flooded()) {
        early_error = "it prints without end instead";
        changed.notify_all();
      }
    }
  }

  void Report(std::string_view words) {
    if (words == "ready" || words == "idle") {
      ready = accepts = true;
    } else if (const std::optional<int> value = ParseStatus(words)) {
      status = value;
      accepts = false;
    } else if (retired.empty() || words == "stopped" || words == "stuck") {
      retired = words;
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
  if (channel_->retired == "left") return Condition::kRetired;
  if (channel_->over() || channel_->sink_has_enough) return Condition::kOver;
  return channel_->accepts ? Condition::kIdle : Condition::kSettling;
}

void ResidentShell::WaitUntilSettled(Clock::time_point deadline) const {
  Lock lock(channel_->mutex);
  channel_->changed.wait_until(lock, deadline,
                               [&] { return channel_->accepts || channel_->over(); });
}

ResidentShell::Reply ResidentShell::Run(const std::string& request, Effect effect, OutputSink& sink,
                                        const support::Context& context) {
  Channel& channel = *channel_;
  support::ContextWait wait(context, channel.mutex, channel.changed);
  Lock lock(channel.mutex);
  const auto settled = [&] { return channel.ready || channel.over(); };
  if (wait.Until(lock, [&] { return settled() || channel.queued; }) && !settled()) {
    lock.unlock();
    sink.OnQueued();
    lock.lock();
    wait.Until(lock, settled);
  }
  if (!channel.ready) {
    if (channel.retired == "no-dir") return {Reply::Kind::kNoDirectory, {}, ""};
    if (channel.end && channel.end->connection_lost) {
      throw ConnectionLost(channel.end->problem, effect, false);
    }
    if (channel.end && !channel.end->problem.empty()) {
      throw support::CallError(channel.end->problem);
    }
    if (!channel.over()) throw support::Stopped(ReasonOf(context));
    return {Reply::Kind::kNotReady, {}, channel.early_error};
  }

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
    channel.changed.wait_until(lock, Clock::now() + kStopPatience, [&] {
      return channel.end || channel.retired == "stopped" || channel.retired == "stuck";
    });
    channel.sink = nullptr;
    throw StoppedCommand(ReasonOf(context), channel.retired == "stopped");
  }
  channel.sink = nullptr;
  if (!done) throw support::Stopped(ReasonOf(context));
  return Collect(effect);
}

ResidentShell::Reply ResidentShell::Collect(Effect effect) {
  const Channel& channel = *channel_;
  const bool connection_lost = channel.end && channel.end->connection_lost;
  Reply reply;
  if (channel.status) {
    reply.end.exit_status = channel.status;
  } else if (channel.retired == "stale" || channel.retired == "left" ||
             (!channel.accepts && !connection_lost)) {
    // After a lost connection, it is unknown whether the loop had taken the request.
    reply.kind = Reply::Kind::kNotRun;
  } else if (connection_lost) {
    throw ConnectionLost(channel.end->problem, effect, true);
  } else if (channel.ended()) {
    reply.end.exit_status = ParseStatus(channel.retired.substr(kEnded.size()));
  } else if (channel.end) {
    reply.end.exit_signal = channel.end->exit_signal;
  }
  return reply;
}

}  // namespace shell
