#include "connection/pinned_roots.h"

namespace connection {

std::optional<std::string> PinnedRoots::Find(const tools::Root& root) const {
  const std::scoped_lock lock(mutex_);
  const auto found = first_.find({root.host, root.guest});
  if (found == first_.end()) return std::nullopt;
  return found->second;
}

void PinnedRoots::Pin(const tools::Root& root, const std::string& resolved) {
  const std::scoped_lock lock(mutex_);
  first_.try_emplace({root.host, root.guest}, resolved);
}

}  // namespace connection
