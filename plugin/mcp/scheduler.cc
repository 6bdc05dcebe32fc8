#include "mcp/scheduler.h"

#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include "support/log.h"

namespace mcp {

void ThreadScheduler::End() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void ThreadScheduler::RunAt(support::Clock::time_point time, std::function<void()> task) {
  const std::scoped_lock lock(mutex_);
  if (stopping_) return;
  tasks_.emplace(time, std::move(task));
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { Loop(); });
    } catch (const std::system_error& error) {
      // The next one tries again, and then this one is run too.
      support::LogWarning("what is to be done later waits: this host allows no more threads (" +
                          error.code().message() + ")");
    }
  }
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
    try {
      task.mapped()();
    } catch (const std::exception& error) {
      // Such as that there are no random bits for the id of a task: no reason to end the program.
      support::LogError(std::string("what was to be done later failed: ") + error.what());
    }
    lock.lock();
  }
}

}  // namespace mcp
