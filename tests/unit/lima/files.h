#pragma once

#include <filesystem>
#include <fstream>
#include <string_view>

namespace lima {

/// Writes a whole file; creates missing directories.
inline void WriteFile(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream stream(path, std::ios::binary);
  stream.exceptions(std::ios::failbit | std::ios::badbit);
  stream << text;
  stream.close();
}

}  // namespace lima
