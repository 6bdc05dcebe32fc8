#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace mcp {

/// Runs calls in a bounded number of threads; further ones wait in the order they came.
/// Thread-safe.
class CallPool {
 public:
  struct Limits {
    std::size_t threads = 16;
    /// Calls that wait for a thread, and the bytes of their arguments. A client that sends more is
    /// told so instead of being left to wait: were reading to pause, `ping` and `cancel` would too.
    std::size_t queued_calls = 8192;
    std::size_t queued_bytes = std::size_t{64} * 1024 * 1024;
  };

  explicit CallPool(Limits limits) : limits_(limits) {}

  /// Waits for the calls that run; those that wait for a thread are dropped.
  ~CallPool();
  CallPool(const CallPool&) = delete;
  CallPool& operator=(const CallPool&) = delete;

  /// False when too many wait; `call` is then not run. `bytes` is the size of its arguments.
  /// `call` must not throw.
  [[nodiscard]] bool Run(std::size_t bytes, std::function<void()> call);

  /// Waits until no call runs or waits; false when some did at the deadline.
  bool WaitUntilIdle(std::chrono::steady_clock::time_point deadline);

 private:
  struct Queued {
    std::size_t bytes;
    std::function<void()> call;
  };

  void Loop();

  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable idle_;
  std::deque<Queued> queue_;
  std::size_t queued_bytes_ = 0;
  std::size_t running_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace mcp
