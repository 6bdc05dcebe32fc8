#include "ssh/completion.h"

#include <utility>

namespace ssh {

void Completion::Finish(std::exception_ptr failure) {
  {
    const std::scoped_lock lock(mutex_);
    failure_ = std::move(failure);
    finished_ = true;
  }
  // Without the lock, for which the woken thread would have to wait at once.
  changed_.notify_all();
}

void Completion::Wait(const support::Context& context,
                      const std::function<void(support::StopReason)>& withdraw) {
  // Before the lock is taken, since it may call back at once.
  const support::Context::Registration registration = context.OnStop([this] {
    const std::scoped_lock lock(mutex_);
    interrupted_ = true;
    changed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  const auto ready = [this] { return finished_ || interrupted_; };
  // Not wait_until(time_point::max()), which overflows in some standard libraries.
  if (context.deadline() == support::Clock::time_point::max()) {
    changed_.wait(lock, ready);
  } else {
    changed_.wait_until(lock, context.deadline(), ready);
  }
  if (!finished_) {
    lock.unlock();
    const support::StopReason reason = context.stop_reason();
    withdraw(reason == support::StopReason::kNone ? support::StopReason::kDeadline : reason);
    lock.lock();
    changed_.wait(lock, [this] { return finished_; });
  }
  // Taken away: the exception then belongs to this thread alone, whoever lets go of this object
  // last.
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace ssh
