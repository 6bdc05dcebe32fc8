#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// What `configure` and `run` both need.
namespace commands {

/// The current directory, links resolved. Throws UsageError if it is gone, or is `/` or the user's
/// home directory: an agent would get all of it. `otherwise` ends the text for the latter.
std::filesystem::path FindProject(const std::string& home, std::string_view otherwise = "");

/// Throws UsageError if one of the words is not UTF-8, which settings must be.
void RequireUtf8(const std::vector<std::string>& words);

/// The names of the server's tools.
std::vector<std::string> ToolNames();

}  // namespace commands
