#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace commands {

/// The command that starts `serve` for an agent: {"limactl", "mcp", "serve"} if the limactl on
/// `path` (a value of $PATH) runs `own_program` as its plugin, else that program by its path.
/// `parent` is the program that started this one, or empty. A limactl that put its own directory
/// into `path` is given by its path if the user's PATH does not have it.
std::vector<std::string> LaunchCommand(const std::filesystem::path& own_program,
                                       const std::string& path,
                                       const std::filesystem::path& parent);

}  // namespace commands
