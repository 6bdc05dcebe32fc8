// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>

#include "shell/process.h"
#include "shell/request.h"
#include "testing/eventually.h"

namespace testing_support {

/// Keeps the output of a command.
class CollectedOutput final : public shell::OutputSink {
 public:
  bool OnOutput(shell::Stream stream, std::string_view bytes) override {
    (stream == shell::Stream::kOutput ? output : error) += bytes;
    return true;
  }

  std::string output;
  std::string error;
};

/// Records the output and the end of a process. Thread-safe.
class RecordedProcess final : public shell::ProcessEvents {
 public:
  void OnOutput(shell::Stream stream, std::string_view bytes) override {
    const std::scoped_lock lock(mutex_);
    collected_.OnOutput(stream, bytes);
  }
  void OnEnd(const shell::ProcessEnd& end) override {
    const std::scoped_lock lock(mutex_);
    end_ = end;
    ++ends_;
  }

  /// Waits for it; throws after 30 s.
  shell::ProcessEnd End() {
    if (!Eventually([&] { return ends() > 0; }, std::chrono::seconds(30))) {
      throw std::runtime_error("the process has not ended");
    }
    const std::scoped_lock lock(mutex_);
    return end_;
  }
  CollectedOutput collected() {
    const std::scoped_lock lock(mutex_);
    return collected_;
  }
  std::string output() { return collected().output; }
  /// Number of OnEnd calls.
  int ends() {
    const std::scoped_lock lock(mutex_);
    return ends_;
  }

 private:
  std::mutex mutex_;  // of what follows
  CollectedOutput collected_;
  shell::ProcessEnd end_;
  int ends_ = 0;
};

}  // namespace testing_support
