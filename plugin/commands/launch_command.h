#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace commands {

/// What starts `serve` for an agent: {"limactl", "mcp", "serve"} where the limactl on `path` (a
/// value of $PATH) runs `own_program` as its plugin, else that program by its path, so that what is
/// configured is what starts.
std::vector<std::string> LaunchCommand(const std::filesystem::path& own_program,
                                       const std::string& path);

}  // namespace commands
