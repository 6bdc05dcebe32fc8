#include "support/context.h"

#include <array>
#include <atomic>
#include <set>

#include "support/errors.h"

namespace support {

std::string Describe(StopReason reason) {
  // In the order of StopReason.
  constexpr std::array kTexts = {"not stopped", "cancelled by the client",
                                 "stopped: the client closed the connection",
                                 "stopped: limactl-mcp was told to terminate", "timed out"};
  return kTexts.at(static_cast<std::size_t>(reason));
}

struct Context::State {
  std::mutex mutex;
  // Read without the lock: the reader may hold the mutex of a wait.
  std::atomic<StopReason> reason = StopReason::kNone;
  std::set<ContextWait*> waits;
};

Context Context::WithDeadline(Clock::time_point deadline) const {
  Context result = *this;
  result.deadline_ = std::min(deadline_, deadline);
  return result;
}

Context Context::WithTimeout(Clock::duration timeout) const {
  return WithDeadline(Clock::now() + timeout);
}

StopReason Context::stop_reason() const {
  if (state_) {
    const StopReason reason = state_->reason;
    if (reason != StopReason::kNone) return reason;
  }
  if (deadline_ != Clock::time_point::max() && Clock::now() >= deadline_) {
    return StopReason::kDeadline;
  }
  return StopReason::kNone;
}

void Context::ThrowIfStopped() const {
  const StopReason reason = stop_reason();
  if (reason != StopReason::kNone) throw Stopped(reason);
}

StopSource::StopSource() : state_(std::make_shared<Context::State>()) {}

void StopSource::Stop(StopReason reason) {
  const std::scoped_lock lock(state_->mutex);
  if (state_->reason != StopReason::kNone) return;
  state_->reason = reason;
  for (ContextWait* wait : state_->waits) {
    // Takes the lock so that no waiter is between its check and its sleep.
    { const std::scoped_lock wait_lock(wait->mutex_); }
    wait->changed_.notify_all();
  }
}

Context StopSource::context() const {
  Context result;
  result.state_ = state_;
  return result;
}

ContextWait::ContextWait(const Context& context, std::mutex& mutex,
                         std::condition_variable& changed)
    : context_(context), mutex_(mutex), changed_(changed) {
  if (!context.state_) return;
  const std::scoped_lock lock(context.state_->mutex);
  context.state_->waits.insert(this);
}

ContextWait::~ContextWait() {
  if (!context_.state_) return;
  const std::scoped_lock lock(context_.state_->mutex);
  context_.state_->waits.erase(this);
}

void Pause(Clock::duration duration, const Context& context) {
  std::mutex mutex;
  std::condition_variable changed;
  {
    ContextWait wait(context, mutex, changed);
    std::unique_lock lock(mutex);
    wait.Until(
        lock, [] { return false; }, Clock::now() + duration);
  }
  context.ThrowIfStopped();
}

}  // namespace support
