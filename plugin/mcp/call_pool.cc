#include "mcp/call_pool.h"

#include <algorithm>
#include <utility>

namespace mcp {

CallPool::~CallPool() {
  std::deque<Queued> dropped;
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    dropped.swap(queue_);
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool CallPool::Run(bool open_ended, std::size_t bytes, std::function<void()> call) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    bytes += kCallBytes;
    if (queued_bytes_ + bytes > limits_.queued_bytes) return false;
    queue_.push_back({open_ended, bytes, std::move(call)});
    queued_bytes_ += bytes;
    if (running_ + queue_.size() > threads_.size() && threads_.size() < limits_.threads) {
      threads_.emplace_back([this] { Loop(); });
    }
  }
  work_.notify_one();
  return true;
}

bool CallPool::WaitUntilIdle(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return idle_.wait_until(lock, deadline, [this] { return queue_.empty() && running_ == 0; });
}

std::deque<CallPool::Queued>::iterator CallPool::Next() {
  const bool open_ended_may = running_open_ended_ < limits_.open_ended_threads;
  return std::find_if(queue_.begin(), queue_.end(),
                      [&](const Queued& queued) { return open_ended_may || !queued.open_ended; });
}

void CallPool::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return stopping_ || Next() != queue_.end(); });
    if (stopping_) return;
    const auto next = Next();
    Queued taken = std::move(*next);
    queue_.erase(next);
    const std::size_t open_ended = taken.open_ended ? 1 : 0;
    queued_bytes_ -= taken.bytes;
    ++running_;
    running_open_ended_ += open_ended;
    lock.unlock();
    taken.call();
    taken.call = nullptr;  // frees what it holds before the pool counts as idle
    lock.lock();
    --running_;
    running_open_ended_ -= open_ended;
    if (running_ == 0 && queue_.empty()) idle_.notify_all();
  }
}

}  // namespace mcp
