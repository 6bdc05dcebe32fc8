#include "paths/roots.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "support/errors.h"
#include "support/paths.h"

namespace paths {
namespace {

namespace fs = std::filesystem;
using paths::Root;

/// The host's own resolution of a path; empty where it is no other, or nothing is there.
std::string ResolvedOnHost(const std::string& path) {
  std::error_code missing;  // a location need not exist on the host for the guest to have it
  std::string resolved = fs::canonical(path, missing).string();
  return missing || resolved == path ? "" : resolved;
}

std::vector<std::string> Aliases(const std::string& resolved) {
  if (resolved.empty()) return {};
  return {resolved};
}

struct Match {
  const Root* root = nullptr;
  std::string spelling;  ///< the location or the alias that matched
  std::string rest;
};

Match LongestMatch(const std::vector<Root>& roots, const std::string& directory) {
  Match best;
  for (const Root& root : roots) {
    std::vector<std::string> spellings = root.host_aliases;
    spellings.push_back(root.host);
    for (const std::string& spelling : spellings) {
      const auto rest = support::PathBelow(directory, spelling);
      if (!rest || (best.root != nullptr && spelling.size() <= best.spelling.size())) continue;
      best = {&root, spelling, std::string(*rest)};
    }
  }
  return best;
}

std::string ListMounts(const std::vector<Root>& roots) {
  if (roots.empty()) return "the instance mounts nothing";
  std::string text = "the mounts are:";
  for (const Root& root : roots) {
    text += " " + root.host + (root.writable ? " (writable)" : " (read-only)");
  }
  return text;
}

}  // namespace

AllowedPath ParseAllowedPath(const std::string& value) {
  AllowedPath allowed;
  allowed.writable = value.ends_with(":w");
  const std::string directory = allowed.writable ? value.substr(0, value.size() - 2) : value;
  if (!directory.starts_with('/')) {
    throw support::CallError("--allow-path \"" + value +
                             "\": expected an absolute directory of the guest, such as /tmp or "
                             "/tmp:w");
  }
  allowed.directory = support::CleanPath(directory);
  return allowed;
}

NarrowedRoot ParseNarrowedRoot(const std::string& value) {
  if (value.empty()) throw support::CallError("--root: expected a directory");
  NarrowedRoot narrowed{support::CleanPath(fs::absolute(value).string())};
  narrowed.resolved = ResolvedOnHost(narrowed.directory);
  return narrowed;
}

std::vector<Root> RootsOfMounts(const std::vector<lima::Mount>& mounts) {
  std::vector<Root> roots;
  for (const lima::Mount& mount : mounts) {
    Root root;
    root.host = mount.location;
    root.guest = mount.mount_point;
    root.written_guest = mount.unclean_mount_point;
    root.writable = mount.writable;
    root.reads_may_be_stale = mount.reads_may_be_stale;
    root.host_aliases = Aliases(ResolvedOnHost(mount.location));
    roots.push_back(std::move(root));
  }
  return roots;
}

std::vector<BoundedRoot> Narrow(const std::vector<Root>& roots,
                                const std::vector<NarrowedRoot>& directories) {
  std::vector<BoundedRoot> narrowed;
  if (directories.empty()) {
    for (const Root& root : roots) narrowed.push_back({root, root.guest});
    return narrowed;
  }
  const auto add = [&narrowed](BoundedRoot candidate) {
    const bool known = std::any_of(narrowed.begin(), narrowed.end(), [&](const auto& present) {
      return present.root.host == candidate.root.host && present.root.guest == candidate.root.guest;
    });
    if (!known) narrowed.push_back(std::move(candidate));
  };
  for (const auto& [directory, resolved] : directories) {
    const std::string* place = &directory;
    Match match = LongestMatch(roots, directory);
    if (match.root == nullptr && !resolved.empty()) {
      place = &resolved;
      match = LongestMatch(roots, resolved);
    }
    if (match.root == nullptr) {
      throw support::CallError("--root " + directory + " lies under no mount; " +
                               ListMounts(roots));
    }
    Root root;
    root.host = directory;
    root.guest = support::JoinPath(match.root->guest, match.rest);
    root.writable = match.root->writable;
    root.reads_may_be_stale = match.root->reads_may_be_stale;
    root.host_aliases = Aliases(resolved);
    const std::string guest = root.guest;
    add({std::move(root), match.root->guest});
    for (const Root& other : roots) {
      if (&other == match.root) continue;
      // Also a mount from elsewhere that is mounted inside: it may be read-only there.
      if (support::PathBelow(other.host, *place) || support::PathBelow(other.guest, guest))
        add({other, other.guest});
    }
  }
  return narrowed;
}

void RequireUncovered(const BoundedRoot& bounded, const std::vector<Root>& mounts) {
  for (const Root& mount : mounts) {
    const bool is_deeper = mount.guest.size() > bounded.boundary.size();
    if (!is_deeper || !support::PathBelow(bounded.root.guest, mount.guest)) continue;
    if (bounded.root.guest == bounded.boundary) continue;  // nothing was cut
    throw support::CallError("--root " + bounded.root.host +
                             " cannot be used: in the guest the mount of " + mount.host + " (at " +
                             mount.guest + ") lies over it, so that other files are there; give " +
                             mount.host + " or a directory in it, if those are meant");
  }
}

std::vector<BoundedRoot> SelectRoots(const std::vector<lima::Mount>& mounts,
                                     const RootOptions& options) {
  std::vector<BoundedRoot> selected = Narrow(RootsOfMounts(mounts), options.narrowed_roots);
  for (const AllowedPath& allowed : options.allowed_paths) {
    Root root;
    root.host = allowed.directory;
    root.guest = allowed.directory;
    root.writable = allowed.writable;
    root.is_guests_own = true;
    selected.push_back({root, root.guest});
  }
  return selected;
}

}  // namespace paths
