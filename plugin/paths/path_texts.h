#pragma once

#include <string>

#include "paths/path_rules.h"

/// Error texts and notes of the path rules.
namespace paths {

/// The roots; without any, how to mount a directory.
std::string DescribeRoots(const PathRules::Options& options);

std::string OutsideText(const std::string& path, const PathRules::Options& options);
std::string ResolvesOutsideText(const std::string& path, const std::string& guest_path,
                                const PathRules::Options& options);

/// Says how to make `root`, a root or mount, writable. `limactl edit` refuses a running instance.
/// `--mount-only` would drop the other mounts, and `--mount` would add a second one if the
/// mountPoint is not the location.
std::string ReadOnlyText(const std::string& path, const Root& root,
                         const PathRules::Options& options);

/// In the guest `mount` lies over the host's `path`; the path that means these files is `other`.
std::string CoveredText(const std::string& path, const Root& mount, const std::string& other);

/// `mount` is missing in the guest, and `path` lies in it.
std::string NotMountedText(const std::string& path, const Root& mount,
                           const PathRules::Options& options);

/// `mount` is missing in the guest, and a search leaves it out.
std::string MissingText(const Root& mount);

/// The guest's cache for `mount` never asks the host again.
std::string StaleText(const Root& mount, const PathRules::Options& options);

}  // namespace paths
