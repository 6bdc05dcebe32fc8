#pragma once

#include <string>

#include "paths/path_rules.h"

/// Error texts and notes of the path rules.
namespace paths {

/// "/a (writable), /b (read-only)"; without roots "none" and how to mount a directory.
std::string ListRoots(const PathRules::Options& options);

/// `path` lies under no root.
std::string OutsideText(const std::string& path, const PathRules::Options& options);

/// `path` resolves to `guest_path`, which lies under no root.
std::string LeadsOutsideText(const std::string& path, const std::string& guest_path,
                             const PathRules::Options& options);

/// `path` lies in `root`, a read-only root or mount; says how to make it writable. `limactl edit`
/// refuses a running instance. `--mount-only` would drop the other mounts, and `--mount` would add
/// a second one if the mountPoint is not the location.
std::string ReadOnlyText(const std::string& path, const Root& root,
                         const PathRules::Options& options);

/// In the guest `mount` lies over the host's `path`; the path that means these files is `other`.
std::string CoveredText(const std::string& path, const Root& mount, const std::string& other);

/// `path` lies in `mount`, which is missing in the guest.
std::string NotMountedText(const std::string& path, const Root& mount,
                           const PathRules::Options& options);

/// A search leaves out `mount`, which is missing in the guest.
std::string MissingText(const Root& mount);

/// The guest's cache for `mount` never asks the host again.
std::string StaleText(const Root& mount, const PathRules::Options& options);

}  // namespace paths
