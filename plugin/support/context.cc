// SPDX-License-Identifier: Apache-2.0
#include "support/context.h"

#include <array>

#include "support/errors.h"

namespace support {

std::string Describe(StopReason reason) {
  // In the order of StopReason.
  constexpr std::array kTexts = {"not stopped", "cancelled by the client",
                                 "stopped: the client closed the connection",
                                 "stopped: limactl-mcp was told to terminate", "timed out"};
  return kTexts.at(static_cast<std::size_t>(reason));
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
  const StopReason reason = stopped_ ? stopped_->load() : StopReason::kNone;
  if (reason != StopReason::kNone || deadline_ == Clock::time_point::max()) return reason;
  return Clock::now() < deadline_ ? StopReason::kNone : StopReason::kDeadline;
}

void Context::ThrowIfStopped() const {
  const StopReason reason = stop_reason();
  if (reason != StopReason::kNone) throw Stopped(reason);
}

void StopSource::Stop(StopReason reason) {
  StopReason none = StopReason::kNone;
  stopped_->compare_exchange_strong(none, reason);
}

Context StopSource::context() const {
  Context result;
  result.stopped_ = stopped_;
  return result;
}

void Pause(Clock::duration duration, const Context& context) {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  WaitUntil(
      never, lock, context, [] { return false; }, Clock::now() + duration);
  context.ThrowIfStopped();
}

}  // namespace support
