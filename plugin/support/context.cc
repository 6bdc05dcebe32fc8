#include "support/context.h"

#include <atomic>
#include <map>

#include "support/errors.h"

namespace support {

std::string Describe(StopReason reason) {
  switch (reason) {
    case StopReason::kNone:
      return "not stopped";
    case StopReason::kCancelled:
      return "cancelled by the client";
    case StopReason::kEndOfInput:
      return "stopped: the client closed the connection";
    case StopReason::kTerminated:
      return "stopped: limactl-mcp was told to terminate";
    case StopReason::kDeadline:
      return "timed out";
  }
  return "stopped";
}

struct Context::State {
  // Held while callbacks run. Recursive, because a callback may destroy registrations.
  std::recursive_mutex mutex;
  // Read without the lock: the reader may hold a lock that a callback waits for.
  std::atomic<StopReason> reason = StopReason::kNone;
  std::uint64_t next_key = 0;
  std::map<std::uint64_t, std::function<void()>> callbacks;
};

Context::Registration::~Registration() {
  if (!state_) return;
  // Stop() runs callbacks under this lock.
  const std::scoped_lock lock(state_->mutex);
  state_->callbacks.erase(key_);
}

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

Context::Registration Context::OnStop(std::function<void()> callback) const {
  if (!state_) return {};
  const std::scoped_lock lock(state_->mutex);
  if (state_->reason != StopReason::kNone) {
    callback();
    return {};
  }
  const std::uint64_t key = state_->next_key++;
  state_->callbacks.emplace(key, std::move(callback));
  return {state_, key};
}

StopSource::StopSource() : state_(std::make_shared<Context::State>()) {}

void StopSource::Stop(StopReason reason) {
  const std::scoped_lock lock(state_->mutex);
  if (state_->reason != StopReason::kNone) return;
  state_->reason = reason;
  // One by one: a callback may destroy registrations, its own among them.
  while (!state_->callbacks.empty()) {
    const auto next = state_->callbacks.extract(state_->callbacks.begin());
    next.mapped()();
  }
}

Context StopSource::context() const {
  Context result;
  result.state_ = state_;
  return result;
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
