#pragma once

#include <string>
#include <string_view>

/// Files that programs on the host read as settings and may run commands from.
namespace paths {

/// Whether `path` is a settings file or directory of an agent or an editor (.claude, .mcp.json,
/// .gemini, .codex, .cursor, .vscode, .zed, opencode.json, .opencode), lies in such a directory, or
/// is a `.git` file or a hook or configuration file of git. At any depth, since agents read the
/// settings of subdirectories too; without regard to case, since macOS's file systems have none.
/// `path` is relative to a root, and clean.
bool IsProtectedSetting(std::string_view path);

/// The error for a write to such a path; `shown` is its name on the host.
std::string ProtectedSettingText(const std::string& shown);

}  // namespace paths
