#include "mcp/call_pool.h"

#include <system_error>
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

bool CallPool::Run(std::size_t bytes, std::function<void()> call) {
  const std::scoped_lock lock(mutex_);
  // One that is larger than the limit by itself runs when nothing else waits.
  const bool too_many_bytes = !queue_.empty() && queued_bytes_ + bytes > limits_.queued_bytes;
  if (queue_.size() >= limits_.queued_calls || too_many_bytes) return false;
  queue_.push_back({bytes, std::move(call)});
  queued_bytes_ += bytes;
  if (running_ + queue_.size() > threads_.size() && threads_.size() < limits_.threads) {
    try {
      threads_.emplace_back([this] { Loop(); });
    } catch (const std::system_error&) {
      // No more threads to be had: the ones there are will do, if there is any.
      if (threads_.empty()) {
        queued_bytes_ -= bytes;
        queue_.pop_back();
        return false;
      }
    }
  }
  work_.notify_one();
  return true;
}

bool CallPool::WaitUntilIdle(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return idle_.wait_until(lock, deadline, [this] { return queue_.empty() && running_ == 0; });
}

void CallPool::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    Queued next = std::move(queue_.front());
    queue_.pop_front();
    queued_bytes_ -= next.bytes;
    ++running_;
    lock.unlock();
    next.call();
    next.call = nullptr;  // what it holds is given back before the pool counts as idle
    lock.lock();
    --running_;
    if (running_ == 0 && queue_.empty()) idle_.notify_all();
  }
}

}  // namespace mcp
