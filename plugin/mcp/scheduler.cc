#include "mcp/scheduler.h"

#include <utility>

namespace mcp {

ThreadScheduler::~ThreadScheduler() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ThreadScheduler::RunAt(support::Clock::time_point time, std::function<void()> task) {
  const std::scoped_lock lock(mutex_);
  tasks_.emplace(time, std::move(task));
  if (!thread_.joinable()) thread_ = std::thread([this] { Loop(); });
  changed_.notify_all();
}

void ThreadScheduler::Loop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (tasks_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const support::Clock::time_point next = tasks_.begin()->first;
    if (Now() < next) {
      changed_.wait_until(lock, next);
      continue;
    }
    const auto task = tasks_.extract(tasks_.begin());
    lock.unlock();
    task.mapped()();
    lock.lock();
  }
}

}  // namespace mcp
