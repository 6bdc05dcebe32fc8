#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace changes {

/// The settings of a file of git's configuration, in order: names as `git config --list` has them,
/// and values. Follows git's config.c. Nothing for a file that git refuses.
std::optional<std::vector<std::pair<std::string, std::string>>> ParseGitConfig(
    std::string_view text);

}  // namespace changes
