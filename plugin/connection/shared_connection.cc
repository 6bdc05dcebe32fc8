#include "connection/shared_connection.h"

#include <string>
#include <utility>

#include "support/errors.h"
#include "support/log.h"

namespace connection {
namespace {

void ThrowIfStopped(const support::Context& context, const std::string& waiting) {
  if (context.stop_reason() == support::StopReason::kDeadline) {
    throw support::CallError("the guest is not ready: " + waiting +
                             ". Nothing was done; call again later");
  }
  context.ThrowIfStopped();
}

/// Throws a copy, so that calls in several threads do not share one exception object.
[[noreturn]] void ThrowCopy(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const support::ConnectionLost& lost) {
    throw support::ConnectionLost(lost.what(), lost.may_have_run());
  } catch (const support::Stopped& stopped) {
    throw support::Stopped(stopped.reason());
  } catch (const support::CallError& error) {
    throw support::CallError(error.what());
  }
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
  support::ContextWait wait(context, mutex_, changed_);
  std::unique_lock lock(mutex_);
  const std::uint64_t first_own_attempt = attempts_started_ + 1;
  while (!IsAlive()) {
    if (attempts_finished_ >= first_own_attempt) {
      if (last_failure_) ThrowCopy(last_failure_);
      throw support::ConnectionLost("the connection to the guest was lost as soon as it was opened",
                                    false);
    }
    ThrowIfStopped(context, Waiting());
    if (attempts_started_ < first_own_attempt && !wanted_) Want();
    const std::uint64_t finished = attempts_finished_;
    const std::string waiting = Waiting();
    progress.SetStatus(waiting);
    wait.Until(lock, [&] { return attempts_finished_ != finished || Waiting() != waiting; });
    if (IsAlive()) progress.SetStatus("connected to the guest");
  }
  return *current_;
}

void SharedConnection::SetWaitingFor(const std::string& text) {
  const std::scoped_lock lock(mutex_);
  if (text == waiting_for_) return;
  waiting_for_ = text;
  changed_.notify_all();
}

std::string SharedConnection::Waiting() const {
  return waiting_for_.empty() ? "connecting to the guest" : waiting_for_;
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
    std::exception_ptr failure;
    try {
      opened = open_(stop_.context(), [this](const std::string& text) { SetWaitingFor(text); });
    } catch (const std::exception& error) {
      failure = std::current_exception();
      // Stopped by the destructor: nobody waits for this connection any more.
      const bool is_closing = stop_.context().stop_reason() != support::StopReason::kNone;
      if (!is_closing) {
        support::LogWarning(std::string("no connection to the guest: ") + error.what());
      }
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
