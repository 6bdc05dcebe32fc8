#include "shell/resident_shell.h"

#include <algorithm>
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
/// Between attempts to make room for a shell that waits for a channel. When one has been closed,
/// another may take its place; the shell that got it is not ready for a while.
constexpr std::chrono::milliseconds kRoomInterval{50};
constexpr std::chrono::milliseconds kStartTime{200};

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

}  // namespace

/// What the shell has reported. The connection's thread writes, under the lock.
class ResidentShell::Channel final : public ProcessEvents {
 public:
  explicit Channel(const std::string& mark) : output_(mark), error_(mark) {}

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
    queued = was_queued = true;
    changed.notify_all();
  }

  void OnHeld(const ProcessEnd& process_end) override {
    const std::scoped_lock lock(mutex);
    end = process_end;
    changed.notify_all();
  }

  void OnEnd(const ProcessEnd& process_end) override {
    const std::scoped_lock lock(mutex);
    output_.Finish([&](std::string_view own) { Take(Stream::kOutput, own); });
    error_.Finish([&](std::string_view own) { Take(Stream::kError, own); });
    end = process_end;
    closed = true;
    changed.notify_all();
  }

  /// Runs no more requests.
  [[nodiscard]] bool over() const { return end || flooded() || !retired.empty(); }
  [[nodiscard]] bool is_queued() const { return was_queued && !ready && !over(); }
  [[nodiscard]] bool flooded() const { return early_output > kMaximumEarlyOutput; }
  [[nodiscard]] bool ended() const { return retired.starts_with(kEnded); }
  [[nodiscard]] bool stopped() const { return retired == "stopped" || retired == "stuck"; }

  /// Until `done`; false if the deadline comes first.
  template <typename Done>
  bool WaitUntil(Lock& lock, Clock::time_point deadline, Done done) {
    // Not wait_until(time_point::max()), which overflows in some standard libraries.
    if (deadline != Clock::time_point::max()) return changed.wait_until(lock, deadline, done);
    changed.wait(lock, done);
    return true;
  }

  std::mutex mutex;  // of all that follows
  std::condition_variable changed;
  OutputSink* sink = nullptr;
  bool sink_has_enough = false;
  bool queued = false;  // and nobody has been told
  bool was_queued = false;
  bool abandoned = false;
  bool ready = false;
  bool accepts = false;       // the loop waits for a request, or runs the one that was sent
  std::optional<int> status;  // of the request
  bool error_ended = false;   // its standard error is complete
  std::string retired;        // the report after which it runs no more requests
  std::string early_error;    // before it was ready, like the next
  std::size_t early_output = 0;
  std::optional<ProcessEnd> end;  // of the process
  bool closed = false;            // and of its channel

 private:
  void Take(Stream stream, std::string_view own) {
    if (sink != nullptr && !sink_has_enough) {
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

ResidentShell::ResidentShell(Launcher& launcher, Turn turn, const std::string& mark,
                             std::string bootstrap)
    : channel_(std::make_shared<Channel>(mark)),
      process_(launcher.Start(std::string(kCommandLine), turn, channel_)) {
  process_->Send(std::move(bootstrap));
}

ResidentShell::~ResidentShell() = default;

ResidentShell::Condition ResidentShell::condition() const {
  const std::scoped_lock lock(channel_->mutex);
  if (channel_->closed || channel_->sink_has_enough || channel_->flooded()) return Condition::kOver;
  if (channel_->over()) return Condition::kRetired;
  return channel_->accepts ? Condition::kIdle : Condition::kSettling;
}

void ResidentShell::WaitUntilSettled(Clock::time_point deadline) const {
  Lock lock(channel_->mutex);
  channel_->WaitUntil(lock, deadline, [&] { return channel_->accepts || channel_->over(); });
}

bool ResidentShell::is_queued() const {
  const std::scoped_lock lock(channel_->mutex);
  return channel_->is_queued();
}

bool ResidentShell::AbandonWhileQueued() {
  const std::scoped_lock lock(channel_->mutex);
  if (!channel_->is_queued()) return false;
  channel_->abandoned = true;
  channel_->changed.notify_all();
  return true;
}

void ResidentShell::WaitUntilReady(OutputSink& sink, const support::Context& context,
                                   const bool& interrupted,
                                   const std::function<bool()>& make_room) {
  Channel& channel = *channel_;
  Lock lock(channel.mutex);
  Clock::time_point next_look = Clock::time_point::max();  // for room; only once it was queued
  const auto done = [&] {
    return channel.ready || channel.over() || channel.abandoned || interrupted;
  };
  while (!done() && Clock::now() < context.deadline()) {
    channel.WaitUntil(lock, std::min(next_look, context.deadline()),
                      [&] { return done() || channel.queued; });
    const bool queued = std::exchange(channel.queued, false);
    if (!queued && Clock::now() < next_look) continue;
    lock.unlock();
    if (queued) sink.OnQueued();
    next_look = Clock::now() + (make_room() ? kStartTime : kRoomInterval);
    lock.lock();
  }
}

ResidentShell::Reply ResidentShell::Run(const std::string& request, Effect effect, OutputSink& sink,
                                        const support::Context& context,
                                        const std::function<bool()>& make_room) {
  Channel& channel = *channel_;
  bool interrupted = false;
  const support::Context::Registration registration = context.OnStop([&] {
    const std::scoped_lock lock(channel.mutex);
    interrupted = true;
    channel.changed.notify_all();
  });
  const auto stop_reason = [&] {
    const support::StopReason reason = context.stop_reason();
    return reason == support::StopReason::kNone ? support::StopReason::kDeadline : reason;
  };
  WaitUntilReady(sink, context, interrupted, make_room);

  Lock lock(channel.mutex);
  if (!channel.ready) {
    if (channel.abandoned && !interrupted) return {Reply::Kind::kNotRun, {}, ""};
    if (channel.retired == "no-dir") return {Reply::Kind::kNoDirectory, {}, ""};
    if (channel.end && channel.end->line_lost) {
      throw ConnectionLost(channel.end->problem, effect, false);
    }
    if (channel.end && !channel.end->problem.empty())
      throw support::CallError(channel.end->problem);
    if (!channel.over()) throw support::Stopped(stop_reason());
    return {Reply::Kind::kNotReady, {}, channel.early_error};
  }
  channel.status.reset();
  channel.error_ended = false;
  channel.sink = &sink;
  lock.unlock();
  process_->Send(request);
  sink.OnStarted();
  lock.lock();

  const auto done = [&] {
    if (channel.status) return channel.error_ended || channel.end || channel.sink_has_enough;
    return channel.end || channel.sink_has_enough ||
           (!channel.retired.empty() && (channel.error_ended || !channel.ended()));
  };
  channel.WaitUntil(lock, context.deadline(), [&] { return done() || interrupted; });

  if (!done() && effect == Effect::kAny) {
    lock.unlock();
    process_->EndInput();
    lock.lock();
    channel.WaitUntil(lock, Clock::now() + kStopPatience,
                      [&] { return channel.stopped() || channel.end; });
    channel.sink = nullptr;
    throw StoppedCommand(stop_reason(), channel.retired == "stopped");
  }
  channel.sink = nullptr;
  if (!done()) throw support::Stopped(stop_reason());

  const bool line_lost = channel.end && channel.end->line_lost;
  Reply reply;
  if (channel.status) {
    reply.end.exit_status = channel.status;
  } else if (channel.retired == "stale" || channel.retired == "left" ||
             (!channel.accepts && !line_lost)) {
    // Of a lost line nobody knows whether it had taken the request.
    reply.kind = Reply::Kind::kNotRun;
  } else if (line_lost) {
    throw ConnectionLost(channel.end->problem, effect, true);
  } else if (channel.ended()) {
    reply.end.exit_status = ParseStatus(channel.retired.substr(kEnded.size()));
  } else if (channel.end) {
    reply.end.exit_signal = channel.end->exit_signal;
  }
  return reply;
}

}  // namespace shell
