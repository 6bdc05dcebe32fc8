#include "support/context.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

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
  // Of the callbacks, and held while they run. Recursive, so that one that lets go of a
  // registration does not lock itself out.
  std::recursive_mutex mutex;
  // Read without the lock: a caller may hold another, for which a callback waits meanwhile.
  std::atomic<StopReason> reason = StopReason::kNone;
  std::uint64_t next_key = 0;
  std::map<std::uint64_t, std::function<void()>> callbacks;
};

struct Context::Registration::Entry {
  std::shared_ptr<State> state;
  std::uint64_t key = 0;
};

Context::Registration::Registration() noexcept = default;
Context::Registration::Registration(std::unique_ptr<Entry> entry) : entry_(std::move(entry)) {}

Context::Registration& Context::Registration::operator=(Registration&& other) noexcept {
  std::swap(entry_, other.entry_);
  return *this;
}

Context::Registration::~Registration() {
  if (!entry_) return;
  // Stop() runs callbacks under this lock: once it is ours, none of them is running.
  const std::scoped_lock lock(entry_->state->mutex);
  entry_->state->callbacks.erase(entry_->key);
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
  auto entry = std::make_unique<Registration::Entry>();
  entry->state = state_;
  entry->key = key;
  return Registration(std::move(entry));
}

StopSource::StopSource() : state_(std::make_shared<Context::State>()) {}

void StopSource::Stop(StopReason reason) {
  const std::scoped_lock lock(state_->mutex);
  if (state_->reason != StopReason::kNone) return;
  state_->reason = reason;
  // Taken off one by one: a callback may let go of registrations, its own among them.
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

}  // namespace support
