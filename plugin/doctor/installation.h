#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "doctor/finding.h"
#include "support/context.h"

/// Checks limactl and the plugin that it runs. `path` is a value of $PATH.
namespace doctor {

/// The limactl-mcp that `limactl mcp` runs, links not resolved. limactl looks in its own directory,
/// in the one that its links resolve to, in `path`, and in libexec/lima and lib/lima next to those
/// two. Follows getPluginDirectories in Lima's pkg/plugins/plugins.go.
std::optional<std::filesystem::path> FindPlugin(const std::filesystem::path& limactl,
                                                const std::string& path);

/// Runs `limactl --version`. Lima has plugins since 2.0.
Finding CheckLimactl(const std::optional<std::filesystem::path>& limactl,
                     const support::Context& context);

/// Whether `plugin`, which limactl runs, is `own_program`.
Finding CheckPlugin(const std::optional<std::filesystem::path>& plugin,
                    const std::filesystem::path& own_program);

}  // namespace doctor
