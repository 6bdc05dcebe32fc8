#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "support/context.h"

namespace tools {

/// Calls back at an interval for as long as somebody is registered: a command that prints nothing
/// for an hour still shows that it is alive. One thread for any number of calls, started with the
/// first; it sleeps until the next callback is due. Thread-safe.
class ProgressTicker {
 public:
  explicit ProgressTicker(std::chrono::milliseconds interval) : interval_(interval) {}

  /// All registrations must be gone.
  ~ProgressTicker();
  ProgressTicker(const ProgressTicker&) = delete;
  ProgressTicker& operator=(const ProgressTicker&) = delete;

  /// Keeps a callback registered for as long as it lives; the destructor waits for a callback that
  /// is running.
  class Registration {
   public:
    Registration() = default;
    Registration(ProgressTicker* ticker, std::uint64_t key) : ticker_(ticker), key_(key) {}
    Registration(Registration&& other) noexcept
        : ticker_(std::exchange(other.ticker_, nullptr)), key_(other.key_) {}
    Registration& operator=(Registration&&) = delete;
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    ~Registration();

   private:
    ProgressTicker* ticker_ = nullptr;
    std::uint64_t key_ = 0;
  };

  /// `callback` runs on the ticker's thread, first after one interval. It must not throw, nor touch
  /// the ticker. Throws std::system_error when its thread cannot be started.
  [[nodiscard]] Registration Register(std::function<void()> callback);

 private:
  struct Entry {
    std::function<void()> callback;
    support::Clock::time_point due;
  };
  void Loop();

  std::chrono::milliseconds interval_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Entry> entries_;
  std::uint64_t next_key_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace tools
