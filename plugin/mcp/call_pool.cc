#include "mcp/call_pool.h"

#include <string>
#include <system_error>
#include <utility>

#include "support/errors.h"

namespace mcp {

CallPool::~CallPool() {
  Queue dropped_short;
  Queue dropped_open_ended;
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    dropped_short.swap(short_);
    dropped_open_ended.swap(open_ended_);
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool CallPool::Run(Kind kind, std::size_t bytes, std::function<void()> call) {
  std::unique_lock lock(mutex_);
  // One that is larger than the limit by itself runs when nothing else waits.
  const bool too_many_bytes = queued() > 0 && queued_bytes_ + bytes > limits_.queued_bytes;
  if (queued() >= limits_.queued_calls || too_many_bytes) return false;
  Queue& queue = kind == Kind::kShort ? short_ : open_ended_;
  queue.push_back({next_number_++, bytes, std::move(call)});
  queued_bytes_ += bytes;
  if (running_ + queued() > threads_.size() && threads_.size() < limits_.threads) {
    try {
      threads_.emplace_back([this] { Loop(); });
    } catch (const std::system_error& error) {
      // No more threads to be had: the ones there are will do, if there is any.
      if (threads_.empty()) {
        queued_bytes_ -= bytes;
        queue.pop_back();
        throw support::CallError("the call cannot be begun: this host allows no more threads (" +
                                 error.code().message() + "); call again in a while");
      }
    }
  }
  // Without the lock, for which the woken thread would have to wait at once.
  lock.unlock();
  work_.notify_one();
  return true;
}

bool CallPool::Saturated(Kind kind) const {
  const std::scoped_lock lock(mutex_);
  return IsSaturated(kind);
}

bool CallPool::IsSaturated(Kind kind) const {
  return running_ >= limits_.threads ||
         (kind == Kind::kOpenEnded && running_open_ended_ >= limits_.open_ended_threads);
}

bool CallPool::WaitUntilIdle(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return idle_.wait_until(lock, deadline, [this] { return queued() == 0 && running_ == 0; });
}

CallPool::Queue* CallPool::Next() {
  const bool open_ended_may = !open_ended_.empty() && !IsSaturated(Kind::kOpenEnded);
  if (short_.empty()) return open_ended_may ? &open_ended_ : nullptr;
  const bool open_ended_came_first =
      open_ended_may && open_ended_.front().number < short_.front().number;
  return open_ended_came_first ? &open_ended_ : &short_;
}

void CallPool::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    Queue* queue = nullptr;
    work_.wait(lock, [&] { return stopping_ || (queue = Next()) != nullptr; });
    if (stopping_) return;
    Queued next = std::move(queue->front());
    queue->pop_front();
    const std::size_t open_ended = queue == &open_ended_ ? 1 : 0;
    queued_bytes_ -= next.bytes;
    ++running_;
    running_open_ended_ += open_ended;
    lock.unlock();
    next.call();
    next.call = nullptr;  // what it holds is given back before the pool counts as idle
    lock.lock();
    --running_;
    running_open_ended_ -= open_ended;
    if (running_ == 0 && queued() == 0) idle_.notify_all();
  }
}

}  // namespace mcp
