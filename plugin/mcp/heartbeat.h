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

  Heartbeat() = default;
  virtual ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  [[nodiscard]] virtual support::Clock::time_point Now() const { return support::Clock::now(); }

  /// For dates that people read.
  [[nodiscard]] virtual std::chrono::system_clock::time_point WallNow() const {
    return std::chrono::system_clock::now();
  }

  /// Calls `beat` every interval until it returns false. Starting again resumes; the beat stays
  /// that of the first call. The thread starts with the first call and sleeps while no beat is
  /// needed. Ends the program if the host cannot start a thread.
  virtual void Start(Beat beat) noexcept;

  /// Waits for a beat that is running. There are none afterwards.
  virtual void Stop();

 private:
  void Loop(const Beat& beat);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool needed_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace mcp
