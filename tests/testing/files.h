// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace testing_support {

/// Writes a whole file; creates missing directories. Throws std::ios_base::failure.
inline void WriteFile(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream stream(path, std::ios::binary);
  stream.exceptions(std::ios::failbit | std::ios::badbit);
  stream << text;
  stream.close();
}

/// Throws std::runtime_error if it cannot be read.
inline std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  // Not with an iterator, which takes a second for ten megabytes without optimisation.
  std::string text;
  std::array<char, 65536> buffer;
  while (file && (file.read(buffer.data(), buffer.size()), file.gcount() > 0)) {
    text.append(buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof()) throw std::runtime_error("cannot read " + path.string());
  return text;
}

/// Sets the time of the last change. Throws std::runtime_error.
inline void SetModified(const std::filesystem::path& path,
                        std::chrono::system_clock::time_point time) {
  struct timespec seconds {};
  seconds.tv_sec = std::chrono::system_clock::to_time_t(time);
  const std::array<struct timespec, 2> times = {seconds, seconds};
  if (::utimensat(AT_FDCWD, path.c_str(), times.data(), 0) != 0)
    throw std::runtime_error("cannot set the time of " + path.string());
}

/// Permissions, as chmod takes them.
inline mode_t ModeOf(const std::filesystem::path& path) {
  return static_cast<mode_t>(std::filesystem::status(path).permissions()) & 07777U;
}

}  // namespace testing_support
