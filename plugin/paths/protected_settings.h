#pragma once

#include <string>
#include <string_view>

namespace paths {

/// Whether programs on the host may read `path` as settings and run commands from it: it is a
/// settings file or directory of an agent or editor, or lies in such a directory, or is a `.git`
/// file, or a hook or configuration file of git. Counts at any depth, since agents read the
/// settings of subdirectories, and in any case, since macOS's file systems ignore case. `path` is
/// clean and relative to a root.
bool IsProtectedSetting(std::string_view path);

/// The error for a write to such a path; `shown` is its name on the host.
std::string ProtectedSettingText(const std::string& shown);

}  // namespace paths
