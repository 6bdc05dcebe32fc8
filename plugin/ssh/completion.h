#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>

#include "support/context.h"

namespace ssh {

/// A failure for Completion::Finish. A function of its own, so that the owner's copy of the
/// exception, which shares its text with the caller's, is gone before the caller gets one.
template <typename Exception, typename... Arguments>
std::exception_ptr MakeFailure(Arguments&&... arguments) {
  return std::make_exception_ptr(Exception(std::forward<Arguments>(arguments)...));
}

/// Where a calling thread waits for work done by the thread that owns the session.
class Completion {
 public:
  /// The owner: the work is done, or failed with an exception. Once. This object must outlive the
  /// call, though the caller may go on before it returns.
  void Finish(std::exception_ptr failure = nullptr);

  /// Any thread.
  [[nodiscard]] bool finished() const {
    const std::scoped_lock lock(mutex_);
    return finished_;
  }

  /// The caller: waits for Finish and rethrows its failure. When `context` is stopped or its
  /// deadline passes, calls `withdraw` once, which has to bring about Finish soon (the owner never
  /// blocks): what the work refers to, such as a sink or bytes to write, is then safe to destroy.
  void Wait(const support::Context& context,
            const std::function<void(support::StopReason)>& withdraw);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool finished_ = false;
  bool interrupted_ = false;
  std::exception_ptr failure_;
};

}  // namespace ssh
