#include "shell/resident_shell.h"

#include <utility>

namespace shell {
namespace {

using support::Clock;
using State = ShellSession::State;

/// The least exit status of a loop that was killed, or could not be started.
constexpr int kKilled = 126;

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

ResidentShell::ResidentShell(Launcher& launcher, const std::string& program) {
  session_->Launch(program, nullptr, launcher);
}

ResidentShell::Condition ResidentShell::condition() const {
  const std::scoped_lock lock(monitor_->mutex);
  const ShellSession::Reported& reported = session_->reported();
  if (reported.left && !reported.closed) return Condition::kInUse;
  if (reported.end || reported.state == State::kOver) return Condition::kOver;
  return reported.state == State::kSettling ? Condition::kSettling : Condition::kIdle;
}

ResidentShell::Reply ResidentShell::Run(const Request& request, Effect effect, OutputSink& sink,
                                        const support::Context& context) {
  ShellSession& session = *session_;
  const ShellSession::Reported& reported = session.reported();
  support::ContextWait wait(context, monitor_->mutex, monitor_->changed);
  std::unique_lock lock(monitor_->mutex);
  const auto settled = [&] { return reported.state == State::kReady || session.is_over(); };
  if (wait.Until(lock, [&] { return settled() || reported.was_queued; }) && !settled()) {
    lock.unlock();
    sink.OnQueued();
    lock.lock();
  }
  const bool may_run = wait.Until(lock, settled);
  if (!reported.was_ready) return NotStarted(effect, context);
  if (!may_run) throw support::Stopped(ReasonOf(context));
  if (session.is_over()) return {Reply::Kind::kNotRun, {}, ""};

  session.BeginRequest(sink);
  lock.unlock();
  const bool is_new = std::exchange(directory_, request.directory) != request.directory;
  session.Send((is_new ? request.directory : "") + request.text);
  sink.OnStarted();
  lock.lock();
  const bool done = wait.Until(lock, [&] { return session.request_is_done(); });
  if (!done && effect == Effect::kAny) {
    lock.unlock();
    session.Stop();
    lock.lock();
    monitor_->changed.wait_until(lock, Clock::now() + kStopPatience,
                                 [&] { return reported.end || reported.stopped; });
    session.FinishRequest();
    throw StoppedCommand(ReasonOf(context), reported.stopped);
  }
  session.FinishRequest();
  if (!done) throw support::Stopped(ReasonOf(context));
  return Collect(effect);
}

ResidentShell::Reply ResidentShell::NotStarted(Effect effect,
                                               const support::Context& context) const {
  const ShellSession::Reported& reported = session_->reported();
  const std::string problem = reported.end ? reported.end->problem : "";
  if (reported.end && reported.end->connection_lost) throw ConnectionLost(problem, effect, false);
  if (!problem.empty()) throw support::CallError(problem);
  if (!session_->is_over()) throw support::Stopped(ReasonOf(context));
  // Without either, it printed too much.
  const bool unfit = reported.exit_status ? *reported.exit_status < kKilled : !reported.end;
  return {unfit ? Reply::Kind::kUnfit : Reply::Kind::kNotStarted, {}, reported.early_error};
}

ResidentShell::Reply ResidentShell::Collect(Effect effect) const {
  const ShellSession::Reported& reported = session_->reported();
  Reply reply;
  if (reported.request_status) {
    reply.end.exit_status = reported.request_status;
  } else if (reported.exit_status) {
    if (reported.exit_status == 0) reply.kind = Reply::Kind::kNotRun;
    reply.end.exit_status = reported.exit_status;
  } else if (reported.end && !session_->sink_has_enough()) {
    if (reported.end->connection_lost) throw ConnectionLost(reported.end->problem, effect, true);
    reply.end.exit_signal = reported.end->exit_signal;
  }
  return reply;
}

}  // namespace shell
