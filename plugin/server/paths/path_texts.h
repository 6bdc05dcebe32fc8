// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "paths/host_programs.h"
#include "paths/path_rules.h"

/// Error messages and notes of the path rules.
namespace paths {

/// Lists the roots; if there are none, says how to mount a directory.
std::string DescribeRoots(const PathRules::Options& options);

/// `what` is the path and its verb: "/etc is".
std::string OutsideText(const std::string& what, const PathRules::Options& options);

/// Says how to make `root`, a root or mount, writable, but never all of the user's home directory.
/// `limactl edit` refuses a running instance. `--mount-only` would drop the other mounts, and
/// `--mount` would add a second one if the mountPoint is not the location.
std::string ReadOnlyText(const std::string& path, const Root& root,
                         const PathRules::Options& options);

/// A program on the host obeys `path`, as `row` says.
std::string ProtectedText(const std::string& path, const paths::HostProgram& row);

/// `mount` covers the host's `path` in the guest. `other` is the path of the covering mount's
/// files.
std::string CoveredText(const std::string& path, const Root& mount, const std::string& other);

/// `path` is in `mount`, which is missing in the guest.
std::string NotMountedText(const std::string& path, const Root& mount,
                           const PathRules::Options& options);

/// A search skips `mount`, which is missing in the guest.
std::string MissingText(const Root& mount);

}  // namespace paths
