#include "files/path_locks.h"

#include "support/errors.h"

namespace files {

PathLocks::Lock PathLocks::Acquire(const std::string& path, const support::Context& context) {
  // The lock makes sure that the wait below is not between its check and its sleep.
  const auto registration = context.OnStop([this] {
    { const std::scoped_lock lock(mutex_); }
    released_.notify_all();
  });
  std::unique_lock lock(mutex_);
  while (held_.contains(path)) {
    context.ThrowIfStopped();
    if (context.deadline() == support::Clock::time_point::max()) {
      released_.wait(lock);
    } else {
      released_.wait_until(lock, context.deadline());
    }
  }
  held_.insert(path);
  return {*this, path};
}

PathLocks::Lock::~Lock() {
  {
    const std::scoped_lock lock(locks_.mutex_);
    locks_.held_.erase(path_);
  }
  locks_.released_.notify_all();
}

}  // namespace files
