#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "doctor/finding.h"
#include "support/context.h"

/// limactl, and the plugin that it runs.
namespace doctor {

/// The first executable file `name` in the directories of `path` (a value of $PATH), without
/// following links.
std::optional<std::filesystem::path> FindProgram(const std::string& name, const std::string& path);

/// Every executable limactl-mcp, each file once, in the order in which limactl looks: the directory
/// of limactl and the one that its links resolve to, `path`, and libexec/lima and lib/lima next to
/// those two. Without limactl, only `path`. Rule: getPluginDirectories in Lima's
/// pkg/plugins/plugins.go.
std::vector<std::filesystem::path> FindPlugins(const std::optional<std::filesystem::path>& limactl,
                                               const std::string& path);

/// The file of this program.
std::filesystem::path OwnProgram();

/// The file of the parent process; empty if unknown.
std::filesystem::path ParentProgram();

/// Runs `limactl --version`. Lima has plugins since 2.0.
Finding CheckLimactl(const std::optional<std::filesystem::path>& limactl,
                     const support::Context& context);

/// Whether `limactl mcp` runs `own_program`. `plugins` comes from FindPlugins.
Finding CheckPlugin(const std::vector<std::filesystem::path>& plugins,
                    const std::filesystem::path& own_program);

}  // namespace doctor
