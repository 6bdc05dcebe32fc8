#include "support/paths.h"

#include <algorithm>
#include <vector>

namespace support {

std::string CleanPath(std::string_view path) {
  const bool rooted = path.starts_with('/');
  std::vector<std::string_view> kept;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view component = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (component.empty() || component == ".") continue;
    if (component != "..") {
      kept.push_back(component);
    } else if (!kept.empty() && kept.back() != "..") {
      kept.pop_back();
    } else if (!rooted) {
      kept.push_back(component);
    }
  }
  std::string clean = rooted ? "/" : "";
  for (const std::string_view component : kept) {
    if (!clean.empty() && clean.back() != '/') clean += '/';
    clean += component;
  }
  return clean.empty() ? "." : clean;
}

}  // namespace support
