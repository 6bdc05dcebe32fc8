#include "connection/shared_connection.h"

#include <utility>

#include "mcp/tool.h"
#include "support/errors.h"
#include "support/log.h"

namespace connection {

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
  return current_ && current_->guest->alive();
}

void SharedConnection::ConnectInBackground() {
  const std::scoped_lock lock(mutex_);
  Want();
}

void SharedConnection::Want() {
  // The thread is started late so that the server answers its first request at once.
  if (!thread_.joinable()) thread_ = std::thread([this] { ConnectWhenWanted(); });
  wanted_ = true;
  changed_.notify_all();
}

tools::Workspace SharedConnection::Acquire(const support::Context& context,
                                           mcp::ProgressReporter& progress) {
  std::unique_lock lock(mutex_);
  const std::uint64_t first_own_attempt = attempts_started_ + 1;
  while (!IsAlive()) {
    if (attempts_finished_ >= first_own_attempt) {
      if (last_failure_) throw support::CallError(*last_failure_);
      throw support::ConnectionLost("the connection to the guest was lost as soon as it was opened",
                                    false);
    }
    const support::StopReason stopped = context.stop_reason();
    if (stopped == support::StopReason::kDeadline) {
      throw support::CallError("the guest is not ready: " + waiting_for_ +
                               ". Nothing was done; call again later");
    }
    if (stopped != support::StopReason::kNone) throw support::Stopped(stopped);
    if (attempts_started_ < first_own_attempt && !wanted_) Want();
    const std::uint64_t finished = attempts_finished_;
    const std::string waiting = waiting_for_;
    progress.SetStatus(waiting);
    support::WaitUntil(changed_, lock, context,
                       [&] { return attempts_finished_ != finished || waiting_for_ != waiting; });
    if (IsAlive()) progress.SetStatus("connected to the guest");
  }
  return *current_;
}

void SharedConnection::ConnectWhenWanted() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return wanted_ || closing_; });
    if (closing_) return;
    wanted_ = false;
    if (IsAlive()) continue;
    ++attempts_started_;
    std::optional<tools::Workspace> dead = std::exchange(current_, std::nullopt);
    lock.unlock();

    // Unlocked, because closing the dead connection and opening a new one take time.
    dead.reset();
    std::optional<tools::Workspace> opened;
    std::optional<std::string> failure;
    try {
      opened = open_(stop_.context(), [this](const std::string& text) {
        const std::scoped_lock status_lock(mutex_);
        waiting_for_ = text;
        changed_.notify_all();
      });
    } catch (const std::exception& error) {
      failure = error.what();
      // Stopped by the destructor: nobody waits for this connection any more.
      const bool is_closing = stop_.context().stop_reason() != support::StopReason::kNone;
      if (!is_closing) support::LogWarning("no connection to the guest: " + *failure);
    }

    lock.lock();
    current_ = std::move(opened);
    last_failure_ = failure;
    waiting_for_ = kConnecting;
    ++attempts_finished_;
    changed_.notify_all();
  }
}

}  // namespace connection
