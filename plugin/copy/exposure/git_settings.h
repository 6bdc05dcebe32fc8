// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

/// Settings of git. Two reports use this: the one on a branch queries the user's own git, with all
/// its includes; the one on a mount must not run git in the project, and reads files as text.
namespace exposure {

struct Setting {
  std::vector<std::string> values;
  /// An upstream of a branch: harmless for one that the user does not know, such as a new one.
  bool is_upstream = false;
};

/// The settings, by key, that may run something, or name a file or an address: all that are not
/// known to be harmless with each of their values. `settings` are the records of `git config --list
/// -z`.
std::map<std::string, Setting> NotHarmless(const std::vector<std::string>& settings);

/// The paths that a value may name, absolute, and some that it does not: the whole value, and if it
/// is a command its program, and each argument with a slash.
std::vector<std::string> NamedPaths(const std::string& key, const std::string& value,
                                    const std::filesystem::path& directory);

}  // namespace exposure
