#include "connection/shared_connection.h"

#include <algorithm>
#include <string>
#include <utility>

#include "support/errors.h"
#include "support/log.h"
#include "support/units.h"

namespace connection {
namespace {

void ThrowIfStopped(const support::Context& context, const std::string& waiting) {
  if (context.stop_reason() == support::StopReason::kDeadline) {
    throw support::CallError("the guest cannot be used yet: " + waiting +
                             ". Nothing was done; call again later");
  }
  context.ThrowIfStopped();
}

}  // namespace

SharedConnection::SharedConnection(Opener open) : open_(std::move(open)) {}

SharedConnection::~SharedConnection() {
  {
    const std::scoped_lock lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  stop_.Stop(support::StopReason::kTerminated);
  if (thread_.joinable()) thread_.join();
}

bool SharedConnection::IsAlive() const {
  return current_ && current_->alive();
}

void SharedConnection::ConnectInBackground() {
  const std::scoped_lock lock(mutex_);
  Want();
}

void SharedConnection::Want() {
  if (!thread_.joinable()) thread_ = std::thread([this] { ConnectWhenWanted(); });
  wanted_ = true;
  changed_.notify_all();
}

tools::Workspace SharedConnection::Acquire(const support::Context& context,
                                           mcp::ProgressReporter& progress) {
  // Taking the lock makes sure that the wait below is not between its check and its sleep.
  const auto registration = context.OnStop([this] {
    { const std::scoped_lock lock(mutex_); }
    changed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  const std::uint64_t first_own_attempt = attempts_started_ + 1;
  while (!IsAlive()) {
    if (attempts_finished_ >= first_own_attempt) {
      if (last_failure_) std::rethrow_exception(last_failure_);
      throw support::ConnectionLost("the connection to the guest was lost as soon as it was opened",
                                    false);
    }
    ThrowIfStopped(context, Waiting());
    if (attempts_started_ < first_own_attempt && !wanted_) Want();
    WaitAndTell(lock, context, progress);
  }
  return current_->workspace;
}

void SharedConnection::WaitAndTell(std::unique_lock<std::mutex>& lock,
                                   const support::Context& context,
                                   mcp::ProgressReporter& progress) {
  const support::Clock::time_point now = support::Clock::now();
  const support::Clock::time_point until =
      progress.requested() ? std::min(context.deadline(), now + kProgressInterval)
                           : context.deadline();
  // Not wait_until(time_point::max()), which overflows in some standard libraries.
  if (until == support::Clock::time_point::max()) {
    changed_.wait(lock);
  } else {
    changed_.wait_until(lock, until);
  }
  if (!progress.requested() || IsAlive()) return;
  const std::string text = Waiting();
  lock.unlock();  // the client may read slowly
  progress.Report(text);
  lock.lock();
}

void SharedConnection::SetWaitingFor(const std::string& text) {
  const std::scoped_lock lock(mutex_);
  if (text == waiting_for_) return;
  waiting_for_ = text;
  waiting_since_ = support::Clock::now();
}

std::string SharedConnection::Waiting() const {
  if (waiting_for_.empty()) return "connecting to the guest";
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(support::Clock::now() - waiting_since_);
  return waiting_for_ + " (" + support::FormatDuration(seconds) + ")";
}

void SharedConnection::ConnectWhenWanted() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return wanted_ || closing_; });
    if (closing_) return;
    wanted_ = false;
    if (IsAlive()) continue;
    ++attempts_started_;
    std::optional<OpenedConnection> dead = std::exchange(current_, std::nullopt);
    lock.unlock();

    // Closing the dead connection and opening a new one take time.
    dead.reset();
    std::optional<OpenedConnection> opened;
    std::exception_ptr failure;
    try {
      opened = open_(stop_.context(), [this](const std::string& text) { SetWaitingFor(text); });
    } catch (const std::exception& error) {
      failure = std::current_exception();
      support::LogWarning(std::string("no connection to the guest: ") + error.what());
    }

    lock.lock();
    current_ = std::move(opened);
    last_failure_ = failure;
    waiting_for_.clear();
    ++attempts_finished_;
    changed_.notify_all();
  }
}

}  // namespace connection
