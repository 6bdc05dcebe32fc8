#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace mcp {

/// Runs calls in a bounded number of threads; further ones wait in the order they came, except that
/// calls that may take any time leave some of the threads to the others. Thread-safe.
class CallPool {
 public:
  struct Limits {
    std::size_t threads = 16;
    /// How many of the threads may run open-ended calls. More than a guest runs at once (of the
    /// MaxSessions of its sshd, 10 if nobody changed it, SFTP has one), so that the next is there
    /// when one ends.
    std::size_t open_ended_threads = 10;
    /// Calls that wait for a thread, and the bytes of their arguments. A client that sends more is
    /// told so instead of being left to wait: were reading to pause, `ping` and `cancel` would too.
    std::size_t queued_calls = 8192;
    std::size_t queued_bytes = std::size_t{64} * 1024 * 1024;
  };

  enum class Kind { kShort, kOpenEnded };

  explicit CallPool(Limits limits) : limits_(limits) {}

  /// Waits for the calls that run; those that wait for a thread are dropped.
  ~CallPool();
  CallPool(const CallPool&) = delete;
  CallPool& operator=(const CallPool&) = delete;

  /// False when too many wait; `call` is then not run. `bytes` is the size of its arguments.
  /// `call` must not throw. Throws support::CallError, and does not run it, where this host allows
  /// no thread at all.
  [[nodiscard]] bool Run(Kind kind, std::size_t bytes, std::function<void()> call);

  /// Whether calls of this kind have all the threads that they may have.
  [[nodiscard]] bool Saturated(Kind kind) const;

  /// Waits until no call runs or waits; false when some did at the deadline.
  bool WaitUntilIdle(std::chrono::steady_clock::time_point deadline);

 private:
  struct Queued {
    std::uint64_t number;
    std::size_t bytes;
    std::function<void()> call;
  };

  using Queue = std::deque<Queued>;

  void Loop();
  [[nodiscard]] bool IsSaturated(Kind kind) const;
  [[nodiscard]] std::size_t queued() const { return short_.size() + open_ended_.size(); }
  /// The queue whose first call is to run next; null when none may.
  Queue* Next();

  const Limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable idle_;
  std::uint64_t next_number_ = 0;
  Queue short_;
  Queue open_ended_;
  std::size_t queued_bytes_ = 0;
  std::size_t running_ = 0;  ///< open-ended ones included
  std::size_t running_open_ended_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace mcp
