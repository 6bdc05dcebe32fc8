#include "commands/writable_mounts.h"

#include <system_error>

#include "lima/host.h"
#include "lima/mounts.h"
#include "support/paths.h"

namespace commands {
namespace {

namespace fs = std::filesystem;

/// `path` itself where the host cannot say.
std::string Resolved(const fs::path& path) {
  std::error_code error;
  const std::string resolved = fs::weakly_canonical(path, error).string();
  return support::CleanPath(error ? path.string() : resolved);
}

}  // namespace

WritableMounts::WritableMounts(const lima::InstanceConfiguration& configuration) {
  for (const lima::MountLocation& mount :
       lima::ListLocations(configuration, lima::ReadHostFacts(), {})) {
    if (!mount.writable) continue;
    const std::string resolved = Resolved(mount.location);
    index_.Add(mount.location, locations_.size());
    index_.Add(resolved, locations_.size());
    locations_.push_back({mount.location, resolved});
  }
}

std::optional<std::string> WritableMounts::Above(const fs::path& path) const {
  for (const std::string& name : {support::CleanPath(path.string()), Resolved(path)}) {
    if (const auto match = index_.Find(name)) return locations_[match->value].written;
  }
  return std::nullopt;
}

std::optional<std::string> WritableMounts::Touching(const fs::path& path) const {
  if (auto above = Above(path)) return above;
  const std::string resolved = Resolved(path);
  for (const Location& location : locations_) {
    if (support::PathBelow(location.resolved, resolved)) return location.written;
  }
  return std::nullopt;
}

}  // namespace commands
