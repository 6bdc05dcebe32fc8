// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mcp/tool.h"

namespace testing_support {

/// Records progress messages. Thread-safe.
class RecordedProgress final : public mcp::ProgressReporter {
 public:
  void SetStatus(std::string text) override {
    const std::scoped_lock lock(mutex_);
    messages_.push_back(std::move(text));
  }
  std::vector<std::string> messages() {
    const std::scoped_lock lock(mutex_);
    return messages_;
  }
  /// Empty when there is none.
  std::string last() {
    const std::scoped_lock lock(mutex_);
    return messages_.empty() ? "" : messages_.back();
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> messages_;
};

}  // namespace testing_support
