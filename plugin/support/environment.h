// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

/// Environment variables: this process's, and those of programs to start.
namespace support {

/// Empty if the variable is not set.
inline std::string EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

using Environment = std::map<std::string, std::string>;

/// This process's.
Environment OwnEnvironment();

/// `fallback` if the variable is missing or empty.
std::string Value(const Environment& environment, const std::string& name,
                  const std::string& fallback = "");

/// `fallback` unless the variable is an absolute path: a relative one would mean another directory
/// to another program.
std::string DirectoryOr(const Environment& environment, const std::string& name,
                        const std::string& fallback);

/// $XDG_CONFIG_HOME, else ~/.config.
std::string ConfigHome(const Environment& environment);

/// A copy with `changes` between spaces, made one after the other: "A" removes a variable, "A*" all
/// that begin with "A", "A=B" sets one, "+A" and "+A*" bring back what was removed.
Environment Changed(const Environment& environment, std::string_view changes);

}  // namespace support
