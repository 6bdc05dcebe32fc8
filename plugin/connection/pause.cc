#include "connection/pause.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace connection {

void Pause(support::Clock::duration duration, const support::Context& context) {
  const support::Clock::time_point until =
      std::min(support::Clock::now() + duration, context.deadline());
  std::mutex mutex;
  std::condition_variable changed;
  bool stopped = false;
  const auto registration = context.OnStop([&] {
    const std::scoped_lock lock(mutex);
    stopped = true;
    changed.notify_all();
  });
  {
    std::unique_lock lock(mutex);
    changed.wait_until(lock, until, [&] { return stopped; });
  }
  context.ThrowIfStopped();
}

}  // namespace connection
