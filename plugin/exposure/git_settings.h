// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Settings of git. Two reports use this: the one on a branch queries the user's own git, with all
/// its includes; the one on a mount must not run git in the project, and reads files as text.
namespace exposure {

/// Whether a setting runs nothing and names neither a file nor an address, as far as is known.
/// `key` is as `git config --list` prints it. What is not known is not harmless.
bool IsHarmless(std::string_view key, std::string_view value);

/// The paths that a value may name, absolute.
std::vector<std::string> NamedPaths(const std::string& key, std::string value,
                                    const std::filesystem::path& directory);

}  // namespace exposure
