// SPDX-License-Identifier: Apache-2.0
#include "shell/shells.h"

#include <algorithm>
#include <utility>

#include "support/errors.h"
#include "support/format.h"
#include "support/join.h"
#include "support/printable.h"
#include "support/utf8.h"

namespace shell {
namespace {

using Lock = std::unique_lock<std::mutex>;
using State = ShellSession::State;
using support::Clock;
using support::Format;

/// For one request: a file of the profile may change between two.
constexpr int kMaxStarts = 2;

/// Bytes of each that runs, for what waits.
constexpr std::size_t kMaxCommandText = 60;

/// Exit status of a shell whose program is missing.
constexpr int kNotFound = 127;

bool IsFree(const ShellSession& session) {
  return session.reported().state == State::kReady;
}
bool IsSettling(const ShellSession& session) {
  return session.reported().state == State::kSettling;
}
bool IsOfUse(const ShellSession& session) {
  return !session.is_over() || session.has_left_processes();
}

/// How a command ended that was stopped.
std::string OutcomeOf(const ShellSession::Reported& reported) {
  return reported.stopped
             ? "its processes have been stopped; a daemon that it started, or what runs as another "
               "user, may still run"
             : "its processes were signalled, but the guest has not confirmed that they are gone: "
               "check it";
}

support::ConnectionLost ConnectionLost(const std::string& problem, bool is_command, bool was_sent) {
  return {Format("{}; {}", problem,
                 !is_command ? "nothing was changed in the guest"
                 : was_sent  ? "the command may have run"
                             : "the command was not run"),
          was_sent && is_command};
}

}  // namespace

RunEnd Shells::RunScript(const Script& script, OutputSink& sink, const support::Context& context) {
  const RunEnd end = RunInSh(false, script, sink, context);
  if (end.exit_signal) {
    throw support::Error(
        "A script of this server was killed in the guest by signal {}: call again.",
        *end.exit_signal);
  }
  return end;
}

RunEnd Shells::RunInSh(bool for_commands, const Script& script, OutputSink& sink,
                       const support::Context& context) {
  ShellRequest request = ScriptRequest(script);
  request.has_profile = for_commands;
  const RunResult reply = Run(for_commands, ScriptProgram(for_commands), request, sink, context);
  if (reply.kind != RunResult::Kind::kDone) {
    throw support::Error("The guest user's login shell could not run /bin/sh: {}",
                         reply.error.empty()
                             ? "it exited at once; perhaps the guest can start no further process"
                             : reply.error);
  }
  return reply.end;
}

RunEnd Shells::RunCommand(const LoginCommand& command, OutputSink& sink,
                          const support::Context& context) {
  Lock lock(session_lock_->mutex);
  const bool is_unfit = unfit_.contains(command.shell);
  lock.unlock();
  if (MayBeBash(command.shell) && !is_unfit) {
    const RunResult reply =
        Run(true, LoginProgram(command.shell), CommandRequest(command), sink, context);
    if (reply.kind == RunResult::Kind::kDone) return reply.end;
    // kNotRun: the files of the profile have changed each time.
    const std::scoped_lock again(session_lock_->mutex);
    if (reply.kind == RunResult::Kind::kUnfit) unfit_.insert(command.shell);
  }
  RunEnd end = RunInSh(true, {PlainLogin(command)}, sink, context);
  if (end.exit_status == kCannotRun || end.exit_status == kNotFound) {
    FunctionSink ignored([](Stream, std::string_view) { return true; });
    const Script script{"command -v " + ShellWord(command.shell)};
    end.shell_missing = RunScript(script, ignored, context).exit_status != 0;
  }
  return end;
}

Shells::RunResult Shells::Run(bool for_commands, const std::string& program,
                              const ShellRequest& request, OutputSink& sink,
                              const support::Context& context) {
  RunResult reply{RunResult::Kind::kNotRun, {}, ""};
  for (int starts = 0; reply.kind == RunResult::Kind::kNotRun && starts < kMaxStarts;) {
    Shell shell = Acquire(for_commands, program, sink, context);
    try {
      if (!shell.session) {
        ++starts;
        shell.session = std::make_shared<ShellSession>(session_lock_, false);
        shell.session->Launch(program, nullptr, launcher_);
      }
      reply = RunIn(shell, request, sink, context);
    } catch (...) {
      Release(std::move(shell), sink, false);
      throw;
    }
    Release(std::move(shell), sink, true);
  }
  return reply;
}

Shells::Shell Shells::Acquire(bool for_commands, const std::string& program, OutputSink& sink,
                              const support::Context& context) {
  Shell shell{for_commands, program, nullptr, ""};
  Lock lock(session_lock_->mutex);
  Queue& queue = QueueOf(for_commands);
  const auto place = queue.waiting.insert(queue.waiting.end(), &sink);
  const auto may_run = [&] { return place == queue.waiting.begin() && Provide(shell); };
  const bool runs = WaitWithReports(*session_lock_, lock, context, may_run,
                                    [&] { sink.OnQueued(Running(&sink)); });
  queue.waiting.erase(place);
  session_lock_->changed.notify_all();
  if (!runs) throw support::Stopped(context.stop_reason());
  queue.running.push_back(&sink);
  return shell;
}

void Shells::Release(Shell shell, const OutputSink& sink, bool may_keep) {
  const std::scoped_lock lock(session_lock_->mutex);
  QueueOf(shell.for_commands).running.remove(&sink);
  session_lock_->changed.notify_all();
  if (!shell.session) return;
  if (may_keep && IsOfUse(*shell.session)) {
    pool_.push_back(std::move(shell));
  } else {
    shell.session->Close();
  }
}

// The connection's thread writes `reported`, so it is only read with the lock; what may take the
// lock or wait (OnQueued, Send, Stop) is called without. A shell that ends before Send has not run
// the request, which may go to another. Afterwards that is certain only if the loop exits with 0:
// everything else may have run it. A command that is out of time is stopped and awaited, since the
// agent must hear what is left of it. A script changes nothing: its shell is just closed.
Shells::RunResult Shells::RunIn(Shell& shell, const ShellRequest& request, OutputSink& sink,
                                const support::Context& context) {
  ShellSession& session = *shell.session;
  const bool is_command = shell.for_commands;
  const ShellSession::Reported& reported = session.reported();
  Lock lock(session_lock_->mutex);
  const auto started = [&] { return reported.state != State::kStarting; };
  const auto wait_until = [&](const auto& done) {
    return support::WaitUntil(session_lock_->changed, lock, context, done);
  };
  if (wait_until([&] { return started() || reported.was_queued; })) {
    WaitWithReports(*session_lock_, lock, context, started, [&] { sink.OnQueued(Running(&sink)); });
  }
  const std::string problem = reported.end ? reported.end->problem : "";
  if (!reported.was_ready) {
    if (reported.end && reported.end->connection_lost)
      throw ConnectionLost(problem, is_command, false);
    if (!problem.empty()) throw support::Error(problem);
    if (!session.is_over() && is_command && !reported.was_queued) {
      throw StoppedCommand(context.stop_reason(), "");
    }
    if (!session.is_over()) throw support::Stopped(context.stop_reason());
    // Without either, it printed too much.
    const bool unfit = reported.exit_status ? *reported.exit_status < kCannotRun : !reported.end;
    return {
        unfit ? RunResult::Kind::kUnfit : RunResult::Kind::kNotStarted, {}, reported.early_error};
  }
  if (session.is_over()) return {RunResult::Kind::kNotRun, {}, ""};

  session.BeginRequest(sink, request.has_profile);
  sink.began = Clock::now();
  lock.unlock();
  const bool is_new = !request.kept.empty() && request.kept != shell.kept;
  if (is_new) shell.kept = request.kept;
  session.Send((is_new ? request.kept : "") + request.text);
  sink.OnStarted();
  lock.lock();
  const bool done = wait_until([&] { return session.request_is_done(); });
  if (!done && is_command) {
    lock.unlock();
    session.Stop();
    lock.lock();
    session_lock_->changed.wait_until(lock, Clock::now() + kStopTimeout,
                                      [&] { return reported.end || reported.stopped; });
    session.FinishRequest();
    throw StoppedCommand(context.stop_reason(), reported.began ? OutcomeOf(reported) : "");
  }
  session.FinishRequest();
  if (!done) throw support::Stopped(context.stop_reason());

  RunResult reply;
  reply.end.began = reported.began;
  reply.end.exit_status = reported.request_status ? reported.request_status : reported.exit_status;
  if (!reply.end.exit_status && reported.end && !session.sink_has_enough()) {
    if (reported.end->connection_lost)
      throw ConnectionLost(reported.end->problem, is_command, true);
    reply.end.exit_signal = reported.end->exit_signal;
  }
  if (!reported.request_status && reported.exit_status == 0) reply.kind = RunResult::Kind::kNotRun;
  return reply;
}

std::string Shells::Running(const OutputSink* self) const {
  const std::scoped_lock lock(session_lock_->mutex);
  std::vector<std::string> shown;
  std::size_t starting = 0;
  for (const OutputSink* const sink : queues_.back().running) {
    if (!sink->began && sink != self) ++starting;
    if (!sink->began) continue;
    const auto time = std::chrono::floor<std::chrono::seconds>(Clock::now() - *sink->began).count();
    shown.push_back(Format("{}, {} {}",
                           support::Printable(support::CutText(sink->command, kMaxCommandText)),
                           time < 60 ? time : time / 60, time < 60 ? "s" : "min"));
  }
  std::vector<std::string> parts;
  const auto add = [&](std::size_t count, const char* one, const char* more) {
    if (count > 0) parts.push_back(Format("{} {}", count, count == 1 ? one : more));
  };
  add(shown.size(), "command runs", "commands run");
  if (!shown.empty()) parts.back() += Format(" ({})", support::Join(shown, "; "));
  add(starting, "command is being started", "commands are being started");
  add(processes_, "process runs", "processes run");
  return parts.empty() ? "other calls use the channels" : support::Join(parts);
}

bool Shells::Provide(Shell& shell) {
  if (shell.session) return true;
  const bool for_commands = shell.for_commands;
  if (QueueOf(for_commands).running.size() >= MaxRunning(for_commands)) return false;
  while (CloseFirst([](const Shell& pooled) { return !IsOfUse(*pooled.session); })) {
  }
  const auto found = std::find_if(pool_.rbegin(), pool_.rend(), [&](const Shell& pooled) {
    return pooled.program == shell.program && IsFree(*pooled.session);
  });
  if (found != pool_.rend()) {
    shell = std::move(*found);
    pool_.erase(std::next(found).base());
    return true;
  }
  return std::none_of(pool_.begin(), pool_.end(),
                      [&](const Shell& pooled) {
                        return pooled.program == shell.program && IsSettling(*pooled.session);
                      }) &&
         HasRoom(for_commands);
}

std::size_t Shells::MaxRunning(bool for_commands) {
  if (for_commands) return channels_ - std::max<std::size_t>(QueueOf(false).running.size(), 1);
  // The second shell for scripts leaves two channels to commands.
  return QueueOf(true).running.size() + 2 <= channels_ && channels_ >= 4 ? kMaxScriptShells : 1;
}

bool Shells::HasRoom(bool for_commands) {
  const auto is_alive = [&](const Shell& pooled) {
    return pooled.for_commands == for_commands && !pooled.session->is_over();
  };
  const auto alive = static_cast<std::size_t>(std::count_if(pool_.begin(), pool_.end(), is_alive));
  return alive + QueueOf(for_commands).running.size() < MaxRunning(for_commands) ||
         CloseFirst([&](const Shell& pooled) {
           return pooled.for_commands == for_commands && IsFree(*pooled.session);
         });
}

template <typename Predicate>
bool Shells::CloseFirst(Predicate predicate) {
  const auto found = std::find_if(pool_.begin(), pool_.end(), predicate);
  if (found == pool_.end()) return false;
  found->session->Close();
  pool_.erase(found);
  return true;
}

bool Shells::SetChannels(std::size_t channels, std::size_t processes) {
  const std::scoped_lock lock(session_lock_->mutex);
  processes_ = processes;
  if (std::exchange(channels_, channels) < channels) session_lock_->changed.notify_all();
  return QueueOf(true).running.size() < channels;
}

std::size_t Shells::channels() const {
  const std::scoped_lock lock(session_lock_->mutex);
  return channels_;
}

bool Shells::MakeRoom() {
  const std::scoped_lock lock(session_lock_->mutex);
  return CloseFirst([](const Shell& pooled) { return pooled.session->has_left_processes(); }) ||
         CloseFirst([](const Shell& pooled) { return IsFree(*pooled.session); });
}

void Shells::Close() {
  Lock lock(session_lock_->mutex);
  const auto settled = [](const Shell& pooled) { return !IsSettling(*pooled.session); };
  session_lock_->changed.wait_for(lock, kSettleTimeout,
                                  [&] { return std::all_of(pool_.begin(), pool_.end(), settled); });
  for (const Shell& pooled : pool_) pooled.session->Close();
  pool_.clear();
}

}  // namespace shell
