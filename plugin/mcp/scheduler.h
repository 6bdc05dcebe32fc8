#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "support/context.h"

namespace mcp {

/// Time, so that tests can decide what time it is. Thread-safe.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  [[nodiscard]] virtual support::Clock::time_point Now() const = 0;

  /// For dates that people read.
  [[nodiscard]] virtual std::chrono::system_clock::time_point WallNow() const = 0;

  /// Runs `task` once at that time, in a thread of the scheduler's own. `task` must be quick. What
  /// it throws is logged and ends nothing but the task.
  virtual void RunAt(support::Clock::time_point time, std::function<void()> task) = 0;
};

/// The real one, with one thread that is started when the first task comes, or a later one where
/// this host allows no more threads then: that task runs late.
class ThreadScheduler : public Scheduler {
 public:
  ThreadScheduler() = default;
  ~ThreadScheduler() override { End(); }
  ThreadScheduler(const ThreadScheduler&) = delete;
  ThreadScheduler& operator=(const ThreadScheduler&) = delete;

  /// Waits for a task that is running; those that are still to come are dropped, and so is what is
  /// given later. What time it is can still be asked.
  void End();

  [[nodiscard]] support::Clock::time_point Now() const override { return support::Clock::now(); }
  [[nodiscard]] std::chrono::system_clock::time_point WallNow() const override {
    return std::chrono::system_clock::now();
  }
  void RunAt(support::Clock::time_point time, std::function<void()> task) override;

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<support::Clock::time_point, std::function<void()>> tasks_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace mcp
