#include "shell/launcher_pool.h"

#include <utility>

namespace shell {

std::shared_ptr<Launcher> LauncherPool::Take(const support::Context& context) {
  support::ContextWait wait(context, mutex_, changed_);
  std::unique_lock lock(mutex_);
  wait.Until(lock, [this] { return !opening_; });
  context.ThrowIfStopped();
  std::erase_if(entries_, [](const Entry& entry) { return entry.launcher.expired(); });
  for (const Entry& entry : entries_) {
    std::shared_ptr<Launcher> launcher = entry.launcher.lock();
    if (launcher && !entry.full && launcher.use_count() <= kMostProcesses) return launcher;
  }
  opening_ = true;
  lock.unlock();
  std::shared_ptr<Launcher> opened;
  const auto finish = [&] {
    lock.lock();
    opening_ = false;
    if (opened) entries_.push_back({opened, false});
    lock.unlock();
    changed_.notify_all();
  };
  try {
    opened = open_(context);
  } catch (...) {
    finish();
    throw;
  }
  finish();
  return opened;
}

bool LauncherPool::MarkFull(const std::shared_ptr<Launcher>& launcher) {
  const std::scoped_lock lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.launcher.lock() == launcher) entry.full = true;
  }
  return launcher.use_count() > 1;
}

}  // namespace shell
