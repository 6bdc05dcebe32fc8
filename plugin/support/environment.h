#pragma once

#include <cstdlib>
#include <string>

namespace support {

/// The value of a variable of this process's environment; empty where it is not set.
inline std::string EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace support
