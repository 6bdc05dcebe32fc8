#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "support/context.h"

namespace mcp {

/// Time, and a beat about once a second. Tests replace it. Thread-safe.
class Heartbeat {
 public:
  static constexpr std::chrono::seconds kInterval{1};

  /// Returns whether another beat is needed. Must not throw.
  using Beat = std::function<bool()>;

  virtual ~Heartbeat() = default;

  [[nodiscard]] virtual support::Clock::time_point Now() const = 0;

  /// For dates that people read.
  [[nodiscard]] virtual std::chrono::system_clock::time_point WallNow() const = 0;

  /// Calls `beat` every interval until it returns false. Starting again resumes; the beat stays
  /// that of the first call.
  virtual void Start(Beat beat) = 0;

  /// Waits for a beat that is running. There are none afterwards.
  virtual void Stop() = 0;
};

/// The real one. Its thread starts with the first `Start` and sleeps while no beat is needed.
class ThreadHeartbeat final : public Heartbeat {
 public:
  ThreadHeartbeat() = default;
  ~ThreadHeartbeat() override { Stop(); }
  ThreadHeartbeat(const ThreadHeartbeat&) = delete;
  ThreadHeartbeat& operator=(const ThreadHeartbeat&) = delete;

  [[nodiscard]] support::Clock::time_point Now() const override { return support::Clock::now(); }
  [[nodiscard]] std::chrono::system_clock::time_point WallNow() const override {
    return std::chrono::system_clock::now();
  }
  /// Ends the program if the host cannot start a thread.
  void Start(Beat beat) noexcept override;
  void Stop() override;

 private:
  void Loop(const Beat& beat);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool needed_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace mcp
