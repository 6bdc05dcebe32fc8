// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>

#include "support/context.h"

namespace ssh {

using TimePoint = support::Clock::time_point;

/// Makes a failure for Completion::Finish. In its own function, so that the session's thread holds
/// no reference to the exception when the caller receives it.
template <typename Exception, typename... Arguments>
std::exception_ptr MakeFailure(Arguments&&... arguments) {
  return std::make_exception_ptr(Exception(std::forward<Arguments>(arguments)...));
}

/// Lets a calling thread wait for work of the session's thread.
class Completion {
 public:
  /// The session's thread calls this once, when the work is done or has failed.
  void Finish(std::exception_ptr failure = nullptr) {
    {
      const std::scoped_lock lock(mutex_);
      failure_ = std::move(failure);
      finished_ = true;
    }
    changed_.notify_all();
  }

  /// The caller waits for Finish; its failure is rethrown. If `context` is stopped, calls
  /// `withdraw` once, which must cause Finish soon. After Wait, objects that the work refers to may
  /// be destroyed.
  void Wait(const support::Context& context,
            const std::function<void(support::StopReason)>& withdraw) {
    std::unique_lock lock(mutex_);
    const auto is_finished = [this] { return finished_; };
    if (!support::WaitUntil(changed_, lock, context, is_finished)) {
      lock.unlock();
      withdraw(context.stop_reason());
      lock.lock();
      changed_.wait(lock, is_finished);
    }
    // exchange() makes this thread the exception's only owner.
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool finished_ = false;
  std::exception_ptr failure_;
};

}  // namespace ssh
