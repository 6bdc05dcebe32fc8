// SPDX-License-Identifier: Apache-2.0
#include "paths/roots.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "support/errors.h"
#include "support/format.h"
#include "support/paths.h"

namespace paths {
namespace {

namespace fs = std::filesystem;

/// The path with links resolved. Empty if that changes nothing, or if the path does not exist on
/// the host; Lima allows such a location.
std::string ResolvedIfOther(const std::string& path) {
  std::error_code missing;
  std::string resolved = fs::canonical(path, missing).string();
  return missing || resolved == path ? "" : resolved;
}

void AddOnce(std::vector<Root>& roots, Root root) {
  const bool known = std::any_of(roots.begin(), roots.end(), [&](const Root& present) {
    return present.host == root.host && present.guest == root.guest;
  });
  if (!known) roots.push_back(std::move(root));
}

void AddNarrowed(std::vector<Root>& roots, const Root& narrowed, const std::vector<Root>& mounts) {
  const DirectoryIndex names = IndexByHostPath(mounts);
  const std::string* name = &narrowed.host;
  auto match = names.Find(*name);
  if (!match && !narrowed.resolved_host.empty()) {
    name = &narrowed.resolved_host;
    match = names.Find(*name);
  }
  if (!match) {
    throw support::Error("--root {} is not under a mount; {}", narrowed.host,
                         mounts.empty()
                             ? "the instance mounts nothing"
                             : support::Format("the mounts are: {}", FormatRoots(mounts)));
  }
  const Root& mount = mounts[match->value];
  Root root = mount;
  root.host = narrowed.host;
  root.resolved_host = narrowed.resolved_host;
  if (!match->rest.empty()) {
    root.guest = support::JoinPath(mount.guest, match->rest);
    root.narrowed_from = mount.guest;
  }
  const std::string guest = root.guest;
  AddOnce(roots, std::move(root));
  for (const Root& other : mounts) {
    if (&other == &mount) continue;
    // Also a mount of another host directory inside the root: it may be read-only.
    if (support::PathBelow(other.host, *name) || support::PathBelow(other.guest, guest)) {
      AddOnce(roots, other);
    }
  }
}

}  // namespace

std::optional<std::string> PinnedRoots::Find(const Root& root) {
  const std::scoped_lock lock(mutex_);
  const auto found = first_.find(root.guest);
  if (found == first_.end()) return std::nullopt;
  return found->second;
}

std::string PinnedRoots::Pin(const Root& root, const std::string& resolved) {
  const std::scoped_lock lock(mutex_);
  return first_.try_emplace(root.guest, resolved).first->second;
}

Root ParseAllowedPath(const std::string& value) {
  const bool writable = value.ends_with(":w");
  std::string directory = writable ? value.substr(0, value.size() - 2) : value;
  const bool has_unknown_mode =
      directory.ends_with(":r") || directory.ends_with(":ro") || directory.ends_with(":rw");
  if (!directory.starts_with('/') || has_unknown_mode) {
    throw support::Error(
        "--allow-path \"{}\": expected DIR or DIR:w, "
        "an absolute directory of the guest, such as /tmp or /tmp:w",
        value);
  }
  directory = support::CleanPath(directory);
  return {.host = directory, .guest = directory, .writable = writable, .is_guests_own = true};
}

Root ParseNarrowedRoot(const std::string& value) {
  if (value.empty()) throw support::Error("--root: expected a directory");
  std::error_code unknown;
  if (fs::exists(value, unknown) && !fs::is_directory(value, unknown))
    throw support::Error("--root {} is not a directory; name one", value);
  const std::string directory = support::CleanPath(fs::absolute(value).string());
  return {.host = directory, .resolved_host = ResolvedIfOther(directory)};
}

std::string FormatRoots(const std::vector<Root>& roots) {
  std::string text;
  for (const Root& root : roots) {
    text += support::Format("{}{}{}", text.empty() ? "" : ", ", root.host,
                            root.writable ? " (writable)" : " (read-only)");
  }
  return text;
}

DirectoryIndex IndexByHostPath(const std::vector<Root>& roots) {
  DirectoryIndex names;
  for (std::size_t i = 0; i < roots.size(); ++i) names.Add(roots[i].host, i);
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if (!roots[i].resolved_host.empty()) names.Add(roots[i].resolved_host, i);
  }
  return names;
}

std::vector<Root> RootsOfMounts(const std::vector<lima::Mount>& mounts) {
  std::vector<Root> roots;
  for (const lima::Mount& mount : mounts) {
    roots.push_back({.host = mount.location,
                     .guest = mount.mount_point,
                     .writable = mount.writable,
                     .resolved_host = ResolvedIfOther(mount.location),
                     .reads_may_be_stale = mount.reads_may_be_stale,
                     .written_guest = mount.unclean_mount_point,
                     .writable_where = mount.writable_where});
  }
  return roots;
}

std::vector<Root> SelectRoots(const std::vector<lima::Mount>& mounts, const RootOptions& options) {
  const std::vector<Root> all = RootsOfMounts(mounts);
  std::vector<Root> selected;
  if (options.narrowed_roots.empty()) selected = all;
  for (const Root& narrowed : options.narrowed_roots) AddNarrowed(selected, narrowed, all);
  selected.insert(selected.end(), options.allowed_paths.begin(), options.allowed_paths.end());
  return selected;
}

}  // namespace paths
