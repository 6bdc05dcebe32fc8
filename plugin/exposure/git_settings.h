// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

/// Settings of git. Two reports use this: the one on a branch queries the user's own git, with all
/// its includes; the one on a mount must not run git in the project, and reads files as text.
namespace exposure {

/// The keys of a configuration that may run something or name a file or an address: all that are
/// not known to be harmless with each of their values. `settings` are the records of `git config
/// --list -z`.
std::set<std::string> NotHarmless(const std::vector<std::string>& settings);

/// The paths that a value may name, absolute: the whole value, and if it is a command its program,
/// and each argument with a slash.
std::vector<std::string> NamedPaths(const std::string& key, std::string value,
                                    const std::filesystem::path& directory);

}  // namespace exposure
