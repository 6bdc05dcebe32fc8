#include "mcp/heartbeat.h"

#include <utility>

namespace mcp {

Heartbeat::~Heartbeat() {
  Heartbeat::Stop();
}

void Heartbeat::Start(Beat beat) noexcept {
  const std::scoped_lock lock(mutex_);
  if (stopping_) return;
  if (!thread_.joinable()) thread_ = std::thread([this, beat = std::move(beat)] { Loop(beat); });
  needed_ = true;
  changed_.notify_all();
}

void Heartbeat::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Heartbeat::Loop(const Beat& beat) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || needed_; });
    if (changed_.wait_for(lock, kInterval, [this] { return stopping_; })) return;
    needed_ = false;
    lock.unlock();
    const bool needed = beat();
    lock.lock();
    needed_ = needed_ || needed;
  }
}

}  // namespace mcp
