// SPDX-License-Identifier: Apache-2.0
#include "support/paths.h"

#include <filesystem>

namespace support {

std::string CleanPath(std::string_view path) {
  std::string clean = std::filesystem::path(path).lexically_normal().string();
  if (clean.size() > 1 && clean.ends_with('/')) clean.pop_back();
  return clean.empty() ? "." : clean;
}

std::optional<std::string> PathBelow(std::string_view path, std::string_view directory) {
  if (!path.starts_with(directory)) return std::nullopt;
  path.remove_prefix(directory.size());
  if (path.starts_with('/')) return std::string(path.substr(1));
  if (path.empty() || directory.ends_with('/')) return std::string(path);  // only "/" itself does
  return std::nullopt;
}

std::string JoinPath(std::string_view directory, std::string_view rest) {
  std::string path(directory);
  if (rest.empty()) return path;
  if (!path.ends_with('/')) path += '/';
  return path += rest;
}

std::string ParentPath(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos || slash == 0 ? "/" : std::string(path.substr(0, slash));
}

std::string_view LastComponent(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace support
