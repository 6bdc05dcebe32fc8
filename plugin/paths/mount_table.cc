#include "paths/mount_table.h"

#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "support/paths.h"

namespace paths {
namespace {

/// The kernel escapes space, tab, newline, backslash and '#' as three octal digits (mangle in
/// fs/proc_namespace.c).
std::string Unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::optional<MountLine> ParseLine(const std::string& text) {
  std::istringstream words(text);
  MountLine line;
  std::string ignored;  // device numbers, mount options, and propagation
  words >> line.id >> line.parent_id >> ignored >> line.root >> line.mount_point;
  while (words >> ignored && ignored != "-") continue;
  words >> line.type >> line.source >> line.super_options;
  line.root = Unescape(line.root);
  line.mount_point = Unescape(line.mount_point);
  line.source = Unescape(line.source);
  if (!line.mount_point.starts_with('/') || line.type.empty()) return std::nullopt;
  return line;
}

/// The root mount: at "/", and its parent is itself or not in the table.
const MountLine* FindRoot(const std::vector<MountLine>& table) {
  std::set<int> ids;
  for (const MountLine& line : table) ids.insert(line.id);
  for (const MountLine& line : table) {
    const bool has_parent = line.parent_id != line.id && ids.contains(line.parent_id);
    if (line.mount_point == "/" && !has_parent) return &line;
  }
  return nullptr;
}

}  // namespace

std::vector<MountLine> ParseMountTable(const std::string& text) {
  std::vector<MountLine> table;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (auto mount = ParseLine(line)) table.push_back(*std::move(mount));
  }
  return table;
}

const MountLine* FindMount(const std::vector<MountLine>& table, std::string_view path) {
  const MountLine* current = FindRoot(table);
  if (current == nullptr) return nullptr;

  // Like the kernel's lookup: enters the first mount on the path, then any mounted on top of it.
  for (std::size_t passed = 0; passed < table.size(); ++passed) {
    const MountLine* next = nullptr;
    for (const MountLine& line : table) {
      if (&line == current || line.parent_id != current->id) continue;
      if (!support::PathBelow(path, line.mount_point)) continue;
      if (next == nullptr || line.mount_point.size() < next->mount_point.size()) next = &line;
    }
    if (next == nullptr) return current;
    current = next;
  }
  return nullptr;
}

bool HasStaleCache(const MountLine& line) {
  constexpr std::string_view kName = "cache=";
  constexpr unsigned long kCacheLoose = 8;
  if (line.type != "9p") return false;
  std::istringstream options(line.super_options);
  for (std::string option; std::getline(options, option, ',');) {
    const bool is_named = option.starts_with(kName);
    if (is_named) option.erase(0, kName.size());
    if (option == "loose" || option == "fscache") return true;
    if (is_named && (std::strtoul(option.c_str(), nullptr, 16) & kCacheLoose) != 0) return true;
  }
  return false;
}

}  // namespace paths
