#include "shell/long_process.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "support/errors.h"

namespace shell {
namespace {

constexpr std::size_t kMaximumEarlyError = 1024;

/// Of input, in bytes. The watcher reads a request byte by byte.
constexpr std::size_t kInputPiece = 8192;

constexpr std::string_view kEnded = "ended ";

}  // namespace

LongProcess::LongProcess(std::shared_ptr<Monitor> monitor, std::size_t needed_channels)
    : monitor_(std::move(monitor)), needed_channels_(needed_channels), splitter_(marker_) {}

void LongProcess::Launch(const LoginCommand& command, Launcher& launcher) {
  auto process = launcher.Start(std::string(kCommandLine), shared_from_this());
  process->Send(ProcessShell(marker_, command));
  const std::scoped_lock lock(monitor_->mutex);
  if (!ended_) process_ = std::move(process);
}

void LongProcess::Close() {
  if (!ended_) End(std::nullopt, "the process was stopped");
}

std::string LongProcess::problem() const {
  return connection_lost_ ? "the process was lost and has been stopped: " + problem_ : problem_;
}

void LongProcess::ThrowStartFailure() const {
  if (connection_lost_) {
    throw support::ConnectionLost(
        problem_ + (may_have_run_ ? "; the process may have run" : "; the process was not started"),
        may_have_run_);
  }
  throw support::CallError("the guest could not start the process: " +
                           (early_error_.empty() ? problem_ : early_error_));
}

void LongProcess::AddInput(std::string_view bytes) {
  input_ += bytes;
  Pump();
}

void LongProcess::EndInput() {
  input_ends_ = true;
  Pump();
}

void LongProcess::Signal(std::string_view name) {
  if (process_ && ready_) process_->Send(SignalRequest(name));
}

void LongProcess::Pump() {
  if (!process_ || !ready_ || input_is_under_way_) return;
  if (!input_.empty()) {
    const std::size_t length = std::min(input_.size(), kInputPiece);
    process_->Send(InputRequest(std::string_view(input_).substr(0, length)));
    input_.erase(0, length);
    input_is_under_way_ = true;
  } else if (input_ends_ && !std::exchange(input_end_is_sent_, true)) {
    process_->Send(std::string(kEndInputRequest));
  }
}

void LongProcess::OnOutput(Stream stream, std::string_view bytes) {
  const std::scoped_lock lock(monitor_->mutex);
  if (stream == Stream::kError) {
    if (!ready_) early_error_ += bytes.substr(0, kMaximumEarlyError - early_error_.size());
    return;
  }
  splitter_.Feed(
      bytes, [this](std::string_view own) { Take(own); },
      [this](std::string_view words) { Report(words); });
  monitor_->changed.notify_all();
}

void LongProcess::OnQueued() {
  const std::scoped_lock lock(monitor_->mutex);
  queued_ = true;
  monitor_->changed.notify_all();
}

void LongProcess::OnEnd(const ProcessEnd& end) {
  const std::scoped_lock lock(monitor_->mutex);
  splitter_.Finish([this](std::string_view own) { Take(own); });
  if (ended_) return;
  connection_lost_ = end.connection_lost;
  may_have_run_ = end.was_started;
  End(std::nullopt,
      !end.problem.empty() ? end.problem
      : end.exit_signal
          ? "the guest's shell that ran the process was killed by signal " + *end.exit_signal
          : "the guest's shell that ran the process exited without reporting how it ended");
}

void LongProcess::Take(std::string_view own) {
  if (ready_ && !ended_) output_.Add(own);
}

void LongProcess::Report(std::string_view words) {
  if (words == "ready") {
    ready_ = true;
  } else if (words == "took") {
    input_is_under_way_ = false;
  } else if (words.starts_with(kEnded) && !ended_) {
    words.remove_prefix(kEnded.size());
    int status = 0;
    std::from_chars(words.data(), words.data() + words.size(), status);
    End(status, "");
  }
  Pump();
}

void LongProcess::End(std::optional<int> status, const std::string& problem) {
  ended_ = true;
  exit_status_ = status;
  problem_ = problem;
  output_.Finish();
  process_.reset();
  monitor_->changed.notify_all();
}

}  // namespace shell
