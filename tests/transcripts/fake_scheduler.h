#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "mcp/scheduler.h"

namespace transcripts {

/// Time that stands still until somebody moves it. Thread-safe.
class FakeScheduler : public mcp::Scheduler {
 public:
  [[nodiscard]] support::Clock::time_point Now() const override {
    const std::scoped_lock lock(mutex_);
    return now_;
  }

  /// 2026-01-01 00:00:00 UTC at the beginning.
  [[nodiscard]] std::chrono::system_clock::time_point WallNow() const override {
    const std::scoped_lock lock(mutex_);
    constexpr std::chrono::seconds kBeginning2026{1'767'225'600};
    return std::chrono::system_clock::time_point(kBeginning2026) +
           std::chrono::duration_cast<std::chrono::system_clock::duration>(now_.time_since_epoch());
  }

  void RunAt(support::Clock::time_point time, std::function<void()> task) override {
    const std::scoped_lock lock(mutex_);
    tasks_.emplace(time, std::move(task));
  }

  /// Moves the time and runs, in this thread, what has become due.
  void Advance(support::Clock::duration by) {
    std::unique_lock lock(mutex_);
    now_ += by;
    while (!tasks_.empty() && tasks_.begin()->first <= now_) {
      const auto task = tasks_.extract(tasks_.begin());
      lock.unlock();
      task.mapped()();
      lock.lock();
    }
  }

 private:
  mutable std::mutex mutex_;
  support::Clock::time_point now_;
  std::multimap<support::Clock::time_point, std::function<void()>> tasks_;
};

}  // namespace transcripts
