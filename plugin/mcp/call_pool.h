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

/// Runs calls in a bounded number of threads, in the order they came. Open-ended calls, which may
/// take any time, leave some threads to the others. Thread-safe.
class CallPool {
 public:
  struct Limits {
    std::size_t threads = 16;
    /// How many threads may run open-ended calls. More than a guest runs at once, so that the next
    /// is ready when one ends.
    std::size_t open_ended_threads = 10;
    /// Size of the calls that may wait for a thread. More are refused. Reading goes on, or `ping`
    /// and cancellations would wait too.
    std::size_t queued_bytes = std::size_t{128} * 1024 * 1024;
  };

  /// What a call counts in addition to its arguments.
  static constexpr std::size_t kCallBytes = std::size_t{16} * 1024;

  explicit CallPool(Limits limits) : limits_(limits) {}

  /// Waits for running calls; drops those that wait for a thread.
  ~CallPool();
  CallPool(const CallPool&) = delete;
  CallPool& operator=(const CallPool&) = delete;

  /// Returns false, and does not run `call`, when too many wait. `bytes` is the size of its
  /// arguments. `call` must not throw. Ends the program if the host cannot start a thread.
  [[nodiscard]] bool Run(bool open_ended, std::size_t bytes, std::function<void()> call) noexcept;

  /// Waits until no call runs or waits; false when some did at the deadline.
  bool WaitUntilIdle(std::chrono::steady_clock::time_point deadline);

 private:
  struct Queued {
    bool open_ended;
    std::size_t bytes;
    std::function<void()> call;
  };

  void Loop();
  /// The first call that may run now; `queue_.end()` if there is none.
  std::deque<Queued>::iterator Next();

  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable idle_;
  std::deque<Queued> queue_;
  std::size_t queued_bytes_ = 0;
  std::size_t running_ = 0;  // open-ended ones included
  std::size_t running_open_ended_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace mcp
