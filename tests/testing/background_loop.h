// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <utility>

namespace testing_support {

/// Calls a function again and again, in its own thread, until it is destroyed.
class BackgroundLoop {
 public:
  explicit BackgroundLoop(std::function<void()> round)
      : thread_([this, round = std::move(round)] {
          while (!stopping_) round();
        }) {}
  ~BackgroundLoop() {
    stopping_ = true;
    thread_.join();
  }
  BackgroundLoop(const BackgroundLoop&) = delete;
  BackgroundLoop& operator=(const BackgroundLoop&) = delete;

 private:
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace testing_support
