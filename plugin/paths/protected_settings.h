#pragma once

#include <string>
#include <string_view>

namespace paths {

/// Whether a program on the host may read `path` as settings and run commands from it. These are
/// the settings files and directories of agents and editors with everything below them, `.git`
/// files, and git's hooks and configuration files. Matches at any depth, because agents read
/// settings of subdirectories, and ignores case, because macOS's file systems do. `path` must be
/// clean and relative to a root.
bool IsProtectedSetting(std::string_view path);

/// The error for a write to such a path; `shown` is its path on the host.
std::string ProtectedSettingText(const std::string& shown);

}  // namespace paths
