#include "paths/pinned_roots.h"

namespace paths {

std::optional<std::string> PinnedRoots::Find(const paths::Root& root) const {
  const std::scoped_lock lock(state_->mutex);
  const auto found = state_->first.find({root.host, root.guest});
  if (found == state_->first.end()) return std::nullopt;
  return found->second;
}

std::string PinnedRoots::Pin(const paths::Root& root, const std::string& resolved) const {
  const std::scoped_lock lock(state_->mutex);
  return state_->first.try_emplace({root.host, root.guest}, resolved).first->second;
}

}  // namespace paths
