#include "paths/mount_table.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include "support/paths.h"

namespace paths {
namespace {

/// Removes and returns what precedes the first `end`, which is removed too; all without an `end`.
std::string_view TakeUntil(std::string_view& text, char end) {
  const std::string_view taken = text.substr(0, text.find(end));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

bool IsOctal(char c) {
  return c >= '0' && c <= '7';
}

/// The kernel escapes space, tab, newline, backslash and '#' as three octal digits (mangle in
/// fs/proc_namespace.c).
std::string Unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\' && i + 3 < text.size() && IsOctal(text[i + 1]) &&
                         IsOctal(text[i + 2]) && IsOctal(text[i + 3]);
    if (!escaped) {
      plain += text[i];
      continue;
    }
    plain +=
        static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return plain;
}

std::optional<int> ParseNumber(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<MountLine> ParseLine(std::string_view text) {
  MountLine line;
  const auto id = ParseNumber(TakeUntil(text, ' '));
  const auto parent_id = ParseNumber(TakeUntil(text, ' '));
  if (!id || !parent_id) return std::nullopt;
  line.id = *id;
  line.parent_id = *parent_id;
  TakeUntil(text, ' ');  // device numbers
  line.root = Unescape(TakeUntil(text, ' '));
  line.mount_point = Unescape(TakeUntil(text, ' '));
  TakeUntil(text, ' ');  // options of the mount
  while (!text.empty() && TakeUntil(text, ' ') != "-") {
    // Optional fields: how mounts propagate.
  }
  line.type = Unescape(TakeUntil(text, ' '));
  line.source = Unescape(TakeUntil(text, ' '));
  line.super_options = Unescape(text);
  if (!line.mount_point.starts_with('/') || line.type.empty()) return std::nullopt;
  return line;
}

/// The mount at "/" whose parent is not in the table, or is itself.
const MountLine* FindRoot(const std::vector<MountLine>& lines) {
  std::set<int> ids;
  for (const MountLine& line : lines) ids.insert(line.id);
  for (const MountLine& line : lines) {
    const bool has_parent = line.parent_id != line.id && ids.contains(line.parent_id);
    if (line.mount_point == "/" && !has_parent) return &line;
  }
  return nullptr;
}

}  // namespace

MountTable MountTable::Parse(std::string_view text) {
  MountTable table;
  while (!text.empty()) {
    if (auto line = ParseLine(TakeUntil(text, '\n'))) table.lines_.push_back(std::move(*line));
  }
  return table;
}

const MountLine* MountTable::At(std::string_view path) const {
  const MountLine* current = FindRoot(lines_);
  if (current == nullptr) return nullptr;

  // A look-up walks down and enters the first mount it meets, then what is mounted on that one.
  for (std::size_t passed = 0; passed < kMostOnAWay; ++passed) {
    const MountLine* next = nullptr;
    for (const MountLine& line : lines_) {
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
  if (line.type != "9p") return false;
  constexpr std::string_view kName = "cache=";
  std::string_view options = line.super_options;
  while (!options.empty()) {
    const std::string_view option = TakeUntil(options, ',');
    const bool named = option.starts_with(kName);
    const std::string_view mode = option.substr(named ? kName.size() : 0);
    if (mode == "loose" || mode == "fscache") return true;
    if (!named) continue;
    constexpr unsigned kCacheLoose = 8;
    unsigned bits = 0;
    const auto [end, error] = std::from_chars(mode.data(), mode.data() + mode.size(), bits, 16);
    if (error == std::errc() && end == mode.data() + mode.size()) return (bits & kCacheLoose) != 0;
  }
  return false;
}

}  // namespace paths
