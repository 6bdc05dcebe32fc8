// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "mcp/tool.h"

namespace mcp {

/// Runs calls in a bounded number of threads for each lane, those of a lane in the order they came.
/// A lane whose threads are all busy never delays another. Thread-safe.
class CallPool {
 public:
  /// How many calls may run at once.
  struct Limits {
    std::size_t quick = 16;

    /// More commands than a guest runs at once: those that wait say what runs.
    std::size_t command = 32;

    /// Each process may have several readers, and stopping one must not wait for them.
    std::size_t waiting = 32;
  };

  explicit CallPool(const Limits& limits)
      : queues_{{{.limit = limits.quick}, {.limit = limits.command}, {.limit = limits.waiting}}} {}

  /// Waits for running calls; drops those that wait for a thread.
  ~CallPool();

  /// `call` must not throw. Ends the program if the host cannot start a thread.
  void Run(Lane lane, std::function<void()> call) noexcept;

  /// Waits until no call runs or waits; false when some did at the deadline.
  bool WaitUntilIdle(std::chrono::steady_clock::time_point deadline);

 private:
  struct Queue {
    std::size_t limit;
    std::size_t running = 0;
    std::deque<std::function<void()>> calls = {};
  };

  void Loop();
  /// A queue whose first call may run now; null if there is none.
  Queue* Next();
  /// How many threads all calls together can use; 0 if none runs or waits.
  [[nodiscard]] std::size_t WantedThreads() const;

  std::mutex mutex_;  // guards what follows
  std::condition_variable work_;
  std::condition_variable idle_;
  std::array<Queue, 3> queues_;  // by Lane
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace mcp
