// SPDX-License-Identifier: Apache-2.0
#include "shell/processes.h"

#include <algorithm>

#include "support/errors.h"
#include "support/format.h"
#include "support/join.h"
#include "support/utf8.h"

namespace shell {
namespace {

using Lock = std::unique_lock<std::mutex>;
using support::Clock;
using support::Error;
using support::Format;

/// Bytes of a command in an error.
constexpr std::size_t kMaxShownCommand = 60;

/// Output comes in bursts: a read that has waited takes in the rest of one.
constexpr std::chrono::milliseconds kBurstPause{50};

/// Why it ended without an exit status.
std::string ProblemOf(const ShellSession& session) {
  const std::optional<ProcessEnd>& end = session.reported().end;
  if (!session.is_over() || session.reported().exit_status) return "";
  if (!end) return "the process was stopped";
  if (end->connection_lost)
    return Format("its connection was lost, so it may run until the guest notices: {}",
                  end->problem);
  if (!end->problem.empty()) return end->problem;
  return Format("the guest's shell that ran the process {}",
                end->exit_signal ? Format("was killed by signal {}", *end->exit_signal)
                                 : "exited without reporting how it ended");
}

Processes::State StateOf(const ShellSession& session) {
  return {!session.is_over(), session.reported().exit_status, ProblemOf(session)};
}

/// Why it ended before it was started.
[[noreturn]] void ThrowStartFailure(const ShellSession& session, const std::string& shell) {
  const ShellSession::Reported& reported = session.reported();
  if (reported.end && reported.end->connection_lost) {
    const bool may_have_run = reported.end->was_started;
    throw support::ConnectionLost(
        Format("{}; {}", reported.end->problem,
               may_have_run ? "the process may have run" : "the process was not started"),
        may_have_run);
  }
  if (reported.exit_status && *reported.exit_status < kCannotRun) {
    throw Error("The process was not started: {}",
                DescribeProfileFailure(shell, "ended or was replaced"));
  }
  throw Error("the guest could not start the process: {}",
              reported.early_error.empty() ? ProblemOf(session) : reported.early_error);
}

}  // namespace

bool Processes::Log::OnOutput(Stream stream, std::string_view bytes) {
  if (stream == Stream::kOutput) output.Add(bytes);
  for (const auto* const watcher : watchers) (*watcher)();
  return true;
}

Processes::~Processes() {
  {
    const std::scoped_lock lock(session_lock_->mutex);
    closing_ = true;
    session_lock_->changed.notify_all();
    for (const auto& entry : entries_) entry->session->Close();
  }
  if (killer_.joinable()) killer_.join();
}

std::string Processes::Start(const LoginCommand& command, const std::string& directory,
                             Launcher& launcher, const OnQueued& on_queued,
                             const support::Context& context) {
  const std::shared_ptr<Entry> entry = Add(command.text, directory);
  ShellSession& session = *entry->session;
  const ShellSession::Reported& reported = session.reported();
  try {
    session.Launch(ProcessProgram(command), entry->log, launcher);
    Lock lock(session_lock_->mutex);
    const auto started = [&] { return reported.was_ready || session.is_over(); };
    const support::Context limited = context.WithTimeout(kProfileTimeout);
    support::WaitUntil(session_lock_->changed, lock, limited,
                       [&] { return started() || reported.was_queued; });
    if (reported.was_queued) WaitWithReports(*session_lock_, lock, context, started, on_queued);
    if (reported.was_ready) return entry->description.id;
    if (session.is_over()) ThrowStartFailure(session, command.shell);
    const support::StopReason reason = limited.stop_reason();
    const bool is_late = reason == support::StopReason::kDeadline;
    if (is_late && reported.was_queued) {
      lock.unlock();
      throw Error(
          "the process was not started in time, since all channels of the connection to the "
          "guest are used: {}. Start it again when one has ended",
          on_queued());
    }
    if (is_late) {
      throw Error("The process was not started in time: {}",
                  DescribeProfileFailure(command.shell, "was still"));
    }
    throw support::Stopped(reason);
  } catch (...) {
    Stop(entry->description.id);
    throw;
  }
}

std::shared_ptr<Processes::Entry> Processes::Add(const std::string& command,
                                                 const std::string& directory) {
  const std::scoped_lock lock(session_lock_->mutex);
  const auto has_ended = [](const auto& entry) { return entry->session->is_over(); };
  const auto ended =
      static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(), has_ended));
  const std::size_t running = entries_.size() - ended;
  if (running >= kMaxProcesses) {
    throw Error("{} processes run, which is the most. Stop one with write_process: {}",
                kMaxProcesses, ListRunning());
  }
  if (ended >= kMaxEnded) {
    entries_.erase(std::find_if(entries_.begin(), entries_.end(), has_ended));
  }
  const std::string id = Format("p{}", ++last_id_);
  entries_.push_back(
      std::make_shared<Entry>(Entry{{id, command, directory, std::chrono::system_clock::now()},
                                    std::make_shared<ShellSession>(session_lock_, true)}));
  return entries_.back();
}

Processes::Output Processes::Read(std::string_view id, std::optional<std::int64_t> offset,
                                  Wait wait_for, std::chrono::milliseconds time,
                                  const support::Context& context, std::size_t maximum) {
  Lock lock(session_lock_->mutex);
  // Others may forget the entry meanwhile.
  const std::shared_ptr<Entry> entry = Find(id);
  const ShellSession& session = *entry->session;
  OutputLog& output = entry->log->output;
  const std::uint64_t from = output.Resolve(offset);
  const auto deadline = Clock::now() + time;
  const auto is_over = [&] { return session.is_over(); };
  const auto has_output = [&] { return wait_for != Wait::kForEnd && output.readable() > from; };
  support::WaitUntil(
      session_lock_->changed, lock, context, [&] { return is_over() || has_output(); }, deadline);
  if (time.count() > 0 && wait_for == Wait::kForOutput) {
    support::WaitUntil(session_lock_->changed, lock, context, is_over,
                       std::min(deadline, Clock::now() + kBurstPause));
  }
  context.ThrowIfStopped();
  if (session.is_over()) output.Finish();
  return {StateOf(session), output.Read(from, maximum)};
}

void Processes::Watch(std::string_view id, std::optional<std::int64_t> offset, const Look& look,
                      std::chrono::milliseconds time, const support::Context& context) {
  Lock lock(session_lock_->mutex);
  const std::shared_ptr<Entry> entry = Find(id);
  const ShellSession& session = *entry->session;
  OutputLog& output = entry->log->output;
  std::uint64_t next = std::min(output.Resolve(offset), output.readable());
  bool has_enough = false;
  const std::function<void()> advance = [&] {
    while (!has_enough && output.readable() > next) {
      const OutputLog::Piece piece = output.Read(next, kMaxRead, true);
      next = piece.end;
      has_enough = look(piece);
    }
  };
  auto& watchers = entry->log->watchers;
  watchers.push_back(&advance);
  const auto forget = [&](const std::function<void()>* watcher) { std::erase(watchers, watcher); };
  const std::unique_ptr<const std::function<void()>, decltype(forget)> watching(&advance, forget);
  const auto deadline = Clock::now() + time;
  bool is_last = false;
  while (!has_enough && !is_last && context.stop_reason() == support::StopReason::kNone) {
    const std::uint64_t seen = next;
    const auto has_news = [&] { return session.is_over() || output.readable() > seen; };
    support::WaitUntil(session_lock_->changed, lock, context, has_news,
                       std::min(deadline, Clock::now() + kPromptWait));
    is_last = session.is_over() || Clock::now() >= deadline;
    if (session.is_over()) output.Finish();
    advance();
    if (!has_enough && (is_last || next == seen)) has_enough = look({.end = next});
  }
  context.ThrowIfStopped();
}

Processes::State Processes::Write(std::string_view id, const Input& request,
                                  std::chrono::milliseconds time, const support::Context& context) {
  Lock lock(session_lock_->mutex);
  const std::shared_ptr<Entry> entry = Find(id);
  ShellSession& session = *entry->session;
  if (!request.input.empty()) {
    if (session.is_over()) throw Error("{} has ended and takes no input", id);
    if (session.input_ended()) throw Error("the standard input of {} has been ended", id);
    if (session.waiting_input() + request.input.size() > kMaxInput) {
      throw Error(
          "At most {} bytes of input can wait for {} to read them: {} do, and this call has {}. "
          "Nothing of this call's input was kept; send less at once, or end it",
          kMaxInput, id, session.waiting_input(), request.input.size());
    }
    session.AddInput(request.input);
  }
  if (!session.is_over()) {
    if (request.end_input) session.EndInput();
    if (!request.signal.empty()) {
      session.Signal(request.signal);
      if (request.signal == "TERM" && !entry->kill_at) {
        entry->kill_at = Clock::now() + kTermTimeout;
        if (!killer_.joinable()) killer_ = std::thread([this] { KillLate(); });
        session_lock_->changed.notify_all();
      }
    }
  }
  const bool only_input = !request.end_input && request.signal.empty();
  support::WaitUntil(
      session_lock_->changed, lock, context,
      [&] { return session.is_over() || (only_input && session.input_is_taken()); },
      Clock::now() + time);
  context.ThrowIfStopped();
  return StateOf(session);
}

void Processes::Stop(std::string_view id) {
  const std::scoped_lock lock(session_lock_->mutex);
  const std::shared_ptr<Entry> entry = Find(id);
  std::erase(entries_, entry);
  entry->session->Close();
}

std::vector<std::pair<Processes::Description, Processes::State>> Processes::List() {
  const std::scoped_lock lock(session_lock_->mutex);
  std::vector<std::pair<Description, State>> listed;
  for (const auto& entry : entries_) {
    if (!entry->session->reported().was_ready) continue;
    listed.emplace_back(entry->description, StateOf(*entry->session));
  }
  return listed;
}

void Processes::KillLate() {
  Lock lock(session_lock_->mutex);
  while (!closing_) {
    auto next = Clock::now() + std::chrono::hours(1);
    for (const auto& entry : entries_) {
      if (!entry->kill_at || entry->session->is_over()) continue;
      if (*entry->kill_at <= Clock::now()) {
        entry->session->Signal("KILL");
        entry->kill_at.reset();
      } else {
        next = std::min(next, *entry->kill_at);
      }
    }
    session_lock_->changed.wait_until(lock, next);
  }
}

std::shared_ptr<Processes::Entry> Processes::Find(std::string_view id) const {
  if (id.empty()) throw Error("`until` needs an `id`; running: {}", ListRunning());
  std::vector<std::string> known;
  for (const auto& entry : entries_) {
    if (entry->description.id == id) return entry;
    known.push_back(entry->description.id);
  }
  throw Error(
      "there is no process {}; {}", id,
      known.empty() ? "none has been started" : Format("known are {}", support::Join(known)));
}

std::string Processes::ListRunning() const {
  std::vector<std::string> running;
  for (const auto& entry : entries_) {
    if (entry->session->is_over()) continue;
    const auto& [id, command, directory, started] = entry->description;
    running.push_back(Format("{} {}", id, support::CutText(command, kMaxShownCommand)));
  }
  return running.empty() ? "none" : support::Join(running, "; ");
}

}  // namespace shell
