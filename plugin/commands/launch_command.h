#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace commands {

/// What starts `serve` for an agent: {"limactl", "mcp", "serve"} where the limactl on `path` (a
/// value of $PATH) runs `own_program` as its plugin, else that program by its path, so that what is
/// configured is what starts. `parent` is the program that has started this one, empty where that
/// is not known: a limactl that has put its own directory into `path` is named by its path where
/// only that finds it, since the agent will look along the user's.
std::vector<std::string> LaunchCommand(const std::filesystem::path& own_program,
                                       const std::string& path,
                                       const std::filesystem::path& parent);

}  // namespace commands
