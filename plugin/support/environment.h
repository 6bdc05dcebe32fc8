#pragma once

#include <cstdlib>
#include <string>

namespace support {

/// Empty if the variable is not set.
inline std::string EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace support
