// SPDX-License-Identifier: Apache-2.0
#include "mcp/call_pool.h"

#include <algorithm>
#include <utility>

namespace mcp {

CallPool::~CallPool() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CallPool::Run(Lane lane, std::function<void()> call) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    queues_.at(static_cast<std::size_t>(lane)).calls.push_back(std::move(call));
    if (threads_.size() < WantedThreads()) threads_.emplace_back([this] { Loop(); });
  }
  work_.notify_one();
}

bool CallPool::WaitUntilIdle(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return idle_.wait_until(lock, deadline, [this] { return WantedThreads() == 0; });
}

CallPool::Queue* CallPool::Next() {
  for (Queue& queue : queues_) {
    if (!queue.calls.empty() && queue.running < queue.limit) return &queue;
  }
  return nullptr;
}

std::size_t CallPool::WantedThreads() const {
  std::size_t wanted = 0;
  for (const Queue& queue : queues_) {
    wanted += std::min(queue.limit, queue.running + queue.calls.size());
  }
  return wanted;
}

void CallPool::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    Queue* queue = nullptr;
    work_.wait(lock, [&] { return stopping_ || (queue = Next()) != nullptr; });
    if (stopping_) return;
    std::function<void()> call = std::move(queue->calls.front());
    queue->calls.pop_front();
    ++queue->running;
    lock.unlock();
    call();
    call = nullptr;  // frees what it holds before the pool counts as idle
    lock.lock();
    --queue->running;
    if (WantedThreads() == 0) idle_.notify_all();
  }
}

}  // namespace mcp
