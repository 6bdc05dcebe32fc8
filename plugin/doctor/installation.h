#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "doctor/finding.h"
#include "support/context.h"

/// limactl, and the plugin that it would run.
namespace doctor {

/// The first executable file `name` in the directories of `path` (a value of $PATH); as it is
/// named there, links not followed.
std::optional<std::filesystem::path> FindProgram(const std::string& name, const std::string& path);

/// Where limactl looks for its plugins, in its order: the directory in which it was found and the
/// one that its links lead to, `path`, and libexec/lima and lib/lima beside these directories.
/// Rule: getPluginDirectories in Lima's pkg/plugins/plugins.go, pkg/usrlocal/usrlocal.go. Without a
/// limactl, only `path`.
std::vector<std::filesystem::path> PluginDirectories(
    const std::optional<std::filesystem::path>& limactl, const std::string& path);

/// Every limactl-mcp in there that limactl would take: a regular file, links followed, that is
/// executable. Each file once, where it is found first.
std::vector<std::filesystem::path> FindPlugins(
    const std::vector<std::filesystem::path>& directories);

/// The file of this very program.
std::filesystem::path OwnProgram();

/// The file of the program that has started this one; empty where the system does not tell.
std::filesystem::path ParentProgram();

/// Runs `limactl --version`. Lima has plugins since 2.0.
Finding CheckLimactl(const std::optional<std::filesystem::path>& limactl,
                     const support::Context& context);

/// Whether `limactl mcp` runs `own_program`. `plugins` is what FindPlugins found.
Finding CheckPlugin(const std::vector<std::filesystem::path>& plugins,
                    const std::filesystem::path& own_program);

}  // namespace doctor
