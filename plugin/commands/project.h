#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace commands {

/// The current directory, links resolved. Throws UsageError if it is gone, or is `/` or the user's
/// home directory: an agent would get all of it. `otherwise` ends that text with a further way.
std::filesystem::path FindProject(const std::string& home, std::string_view otherwise = "");

}  // namespace commands
