#include "shell/processes.h"

#include <algorithm>
#include <utility>

#include "support/errors.h"
#include "support/join.h"
#include "support/utf8.h"

namespace shell {
namespace {

using Lock = std::unique_lock<std::mutex>;
using support::Clock;

/// Bytes of a command in an error.
constexpr std::size_t kMaximumShownCommand = 60;

/// Output comes in bursts: a read that has waited takes in the rest of one.
constexpr std::chrono::milliseconds kBurstPause{50};

Processes::State StateOf(const LongProcess& process) {
  return {!process.ended(), process.exit_status(), process.problem()};
}

}  // namespace

Processes::~Processes() {
  {
    const std::scoped_lock lock(monitor_->mutex);
    closing_ = true;
    monitor_->changed.notify_all();
    for (const auto& entry : entries_) entry->process->Close();
  }
  if (killer_.joinable()) killer_.join();
}

std::string Processes::Start(const LoginCommand& command, const std::string& directory,
                             Launcher& launcher, const support::Context& context) {
  const std::shared_ptr<Entry> entry = Add(command.text, directory);
  const LongProcess& process = *entry->process;
  try {
    entry->process->Launch(command, launcher);
    support::ContextWait wait(context, monitor_->mutex, monitor_->changed);
    Lock lock(monitor_->mutex);
    wait.Until(lock, [&] { return process.started() || process.ended(); });
    if (process.started()) return entry->description.id;
    if (process.ended()) process.ThrowStartFailure();
    const support::StopReason reason = context.stop_reason();
    const bool is_late = reason == support::StopReason::kDeadline;
    if (is_late && process.was_queued()) {
      throw support::CallError(
          "the process was not started in time: commands used all channels of the connection to "
          "the guest. Start it again when a command has ended");
    }
    throw support::Stopped(reason);
  } catch (...) {
    Abandon(entry->description.id);
    throw;
  }
}

std::shared_ptr<Processes::Entry> Processes::Add(const std::string& command,
                                                 const std::string& directory) {
  const std::scoped_lock lock(monitor_->mutex);
  const auto has_ended = [](const auto& entry) { return entry->process->ended(); };
  const auto ended =
      static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(), has_ended));
  const std::size_t running = entries_.size() - ended;
  if (running >= kMaxProcesses) {
    throw support::CallError(
        std::to_string(kMaxProcesses) +
        " processes run, which is the most. Stop one with write_process: " + ListRunning());
  }
  if (ended >= kMostEnded) {
    entries_.erase(std::find_if(entries_.begin(), entries_.end(), has_ended));
  }
  const std::string id = "p" + std::to_string(++last_id_);
  entries_.push_back(std::make_shared<Entry>(
      Entry{{id, command, directory, std::chrono::system_clock::now()},
            std::make_shared<LongProcess>(monitor_, running + 1 + kSharedChannels)}));
  return entries_.back();
}

Processes::Output Processes::Read(std::string_view id, std::optional<std::int64_t> offset,
                                  Wait wait_for, std::chrono::milliseconds time,
                                  const support::Context& context, std::size_t maximum) {
  support::ContextWait wait(context, monitor_->mutex, monitor_->changed);
  Lock lock(monitor_->mutex);
  // Others may forget the entry meanwhile.
  const std::shared_ptr<Entry> entry = Find(id);
  const LongProcess& process = *entry->process;
  const OutputLog& output = process.output();
  const std::uint64_t from = offset ? output.Resolve(*offset) : entry->next_read;
  const auto deadline = Clock::now() + time;
  wait.Until(
      lock,
      [&] { return process.ended() || (wait_for == Wait::kForOutput && output.readable() > from); },
      deadline);
  if (time.count() > 0 && wait_for == Wait::kForOutput) {
    wait.Until(
        lock, [&] { return process.ended(); }, std::min(deadline, Clock::now() + kBurstPause));
  }
  context.ThrowIfStopped();
  Output read{StateOf(process), output.Read(from, maximum), 0};
  read.remaining = output.readable() - read.piece.end;
  entry->next_read = read.piece.end;
  return read;
}

Processes::State Processes::Write(std::string_view id, const Request& request,
                                  std::chrono::milliseconds time, const support::Context& context) {
  support::ContextWait wait(context, monitor_->mutex, monitor_->changed);
  Lock lock(monitor_->mutex);
  const std::shared_ptr<Entry> entry = Find(id);
  LongProcess& process = *entry->process;
  const std::string name(id);
  if (!request.input.empty()) {
    if (process.ended()) throw support::CallError(name + " has ended and takes no input");
    if (process.input_ended()) {
      throw support::CallError("the standard input of " + name + " has been ended");
    }
    if (process.waiting_input() + request.input.size() > LongProcess::kMaximumInput) {
      throw support::CallError(
          name + " does not read its input: " + std::to_string(process.waiting_input()) +
          " bytes wait already, and at most " + std::to_string(LongProcess::kMaximumInput) +
          " can. Nothing of this call's input was kept.");
    }
    process.AddInput(request.input);
  }
  if (!process.ended()) {
    if (request.end_input) process.EndInput();
    if (!request.signal.empty()) {
      process.Signal(request.signal);
      if (request.signal == "TERM" && !entry->kill_at) {
        entry->kill_at = Clock::now() + kTermPatience;
        if (!killer_.joinable()) killer_ = std::thread([this] { KillLate(); });
        monitor_->changed.notify_all();
      }
    }
  }
  const bool only_input = !request.end_input && request.signal.empty();
  wait.Until(
      lock, [&] { return process.ended() || (only_input && process.input_is_taken()); },
      Clock::now() + time);
  context.ThrowIfStopped();
  return StateOf(process);
}

void Processes::Abandon(std::string_view id) {
  const std::scoped_lock lock(monitor_->mutex);
  const std::shared_ptr<Entry> entry = Find(id);
  entry->process->Close();
  std::erase(entries_, entry);
}

std::vector<Processes::Listed> Processes::List() {
  const std::scoped_lock lock(monitor_->mutex);
  std::vector<Listed> listed;
  for (const auto& entry : entries_) {
    if (!entry->process->started()) continue;
    listed.push_back({entry->description, StateOf(*entry->process)});
  }
  return listed;
}

void Processes::KillLate() {
  Lock lock(monitor_->mutex);
  while (!closing_) {
    auto next = Clock::time_point::max();
    for (const auto& entry : entries_) {
      if (!entry->kill_at || entry->process->ended()) continue;
      if (*entry->kill_at <= Clock::now()) {
        entry->process->Signal("KILL");
        entry->kill_at.reset();
      } else {
        next = std::min(next, *entry->kill_at);
      }
    }
    if (next == Clock::time_point::max()) {
      monitor_->changed.wait(lock);
    } else {
      monitor_->changed.wait_until(lock, next);
    }
  }
}

std::shared_ptr<Processes::Entry> Processes::Find(std::string_view id) const {
  std::vector<std::string> known;
  for (const auto& entry : entries_) {
    if (entry->description.id == id) return entry;
    known.push_back(entry->description.id);
  }
  throw support::CallError(
      "there is no process " + std::string(id) +
      (known.empty() ? "; none has been started" : "; known are " + support::Join(known, ", ")));
}

std::string Processes::ListRunning() const {
  std::vector<std::string> running;
  for (const auto& entry : entries_) {
    if (entry->process->ended()) continue;
    const auto& [id, command, directory, started] = entry->description;
    const std::string shown = command.substr(0, kMaximumShownCommand);
    running.push_back(id + " " + shown.substr(0, support::ValidUtf8Prefix(shown)));
  }
  return support::Join(running, "; ");
}

}  // namespace shell
