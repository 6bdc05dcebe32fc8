#pragma once

#include <string>

#include "paths/path_rules.h"

/// What an agent is told about paths that it may not use.
namespace paths {

/// "/a (writable), /b (read-only)"; when there are no roots, "none" and how to mount one.
std::string ListRoots(const PathRules::Options& options);

/// `path` lies under no root.
std::string OutsideText(const std::string& path, const PathRules::Options& options);

/// `path` leads through links to `guest_path`, which lies under no root.
std::string LeadsOutsideText(const std::string& path, const std::string& guest_path,
                             const PathRules::Options& options);

/// `path` lies in the read-only `root`, or in this mount, which is read-only in a writable root;
/// says how to make that writable. Commands and limits are those of `limactl edit --help`: it
/// refuses an instance that runs; `--mount-only` would drop every mount that it does not name, and
/// `--mount` would add a second one where the mountPoint is not the location.
std::string ReadOnlyText(const std::string& path, const Root& root,
                         const PathRules::Options& options);

/// What the guest has in the place of the host's `path` lies in `mount`, and is the host's `other`.
std::string CoveredText(const std::string& path, const Root& mount, const std::string& other);

/// `path` lies in `mount`, which the guest has not mounted; says what to do.
std::string NotMountedText(const std::string& path, const Root& mount,
                           const PathRules::Options& options);

/// A search from above `mount` found nothing of it, since the guest has not mounted it.
std::string MissingText(const Root& mount);

/// The guest's cache for `mount` never asks the host again; says what that means and how to change
/// it.
std::string StaleText(const Root& mount, const PathRules::Options& options);

}  // namespace paths
