#include "connection/pinned_roots.h"

namespace connection {

std::optional<std::string> PinnedRoots::Find(const tools::Root& root) const {
  const std::scoped_lock lock(state_->mutex);
  const auto found = state_->first.find({root.host, root.guest});
  if (found == state_->first.end()) return std::nullopt;
  return found->second;
}

std::string PinnedRoots::Pin(const tools::Root& root, const std::string& resolved) const {
  const std::scoped_lock lock(state_->mutex);
  return state_->first.try_emplace({root.host, root.guest}, resolved).first->second;
}

}  // namespace connection
