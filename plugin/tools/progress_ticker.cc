#include "tools/progress_ticker.h"

#include <algorithm>
#include <utility>

namespace tools {

ProgressTicker::~ProgressTicker() {
  {
    const std::scoped_lock lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

ProgressTicker::Registration ProgressTicker::Register(std::function<void()> callback) {
  const std::scoped_lock lock(mutex_);
  // First, since it may throw: then nothing may stay registered.
  if (!thread_.joinable()) thread_ = std::thread([this] { Loop(); });
  const std::uint64_t key = next_key_++;
  entries_.emplace(key, Entry{std::move(callback), support::Clock::now() + interval_});
  changed_.notify_one();
  return {this, key};
}

ProgressTicker::Registration::~Registration() {
  if (ticker_ == nullptr) return;
  // The loop runs callbacks under this lock: once it is ours, none of them is running.
  const std::scoped_lock lock(ticker_->mutex_);
  ticker_->entries_.erase(key_);
}

void ProgressTicker::Loop() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (entries_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto earlier = [](const auto& a, const auto& b) { return a.second.due < b.second.due; };
    Entry& next = std::min_element(entries_.begin(), entries_.end(), earlier)->second;
    const support::Clock::time_point due = next.due;
    if (support::Clock::now() < due) {
      changed_.wait_until(lock, due);
      continue;
    }
    next.due = support::Clock::now() + interval_;
    next.callback();
  }
}

}  // namespace tools
