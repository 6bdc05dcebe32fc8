#include "paths/mount_table.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

#include "support/paths.h"

namespace paths {
namespace {

/// What stands before the first `end`, which is removed too; all of it where there is none.
std::string_view TakeUntil(std::string_view& text, char end) {
  const std::string_view taken = text.substr(0, text.find(end));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

bool IsOctal(char c) {
  return c >= '0' && c <= '7';
}

/// The kernel writes space, tab, newline, backslash and '#' as three octal digits (mangle in
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
    // optional fields: how mounts propagate
  }
  line.type = Unescape(TakeUntil(text, ' '));
  line.source = Unescape(TakeUntil(text, ' '));
  line.super_options = Unescape(text);
  if (!line.mount_point.starts_with('/') || line.type.empty()) return std::nullopt;
  return line;
}

}  // namespace

MountTable MountTable::Parse(std::string_view text) {
  MountTable table;
  while (!text.empty()) {
    if (auto line = ParseLine(TakeUntil(text, '\n'))) table.lines_.push_back(std::move(*line));
  }
  table.root_ = table.FindRoot();
  return table;
}

std::optional<std::size_t> MountTable::FindRoot() const {
  std::unordered_map<int, std::size_t> lines_of_id;
  for (const MountLine& line : lines_) ++lines_of_id[line.id];
  const auto has_parent = [&lines_of_id](const MountLine& line) {
    const auto parents = lines_of_id.find(line.parent_id);
    const bool is_its_own = line.id == line.parent_id;
    return parents != lines_of_id.end() && parents->second > (is_its_own ? 1U : 0U);
  };
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (lines_[i].mount_point == "/" && !has_parent(lines_[i])) return i;
  }
  return std::nullopt;
}

const MountLine* MountTable::At(std::string_view path) const {
  if (!root_) return nullptr;

  // A look-up walks down and enters the first mount it meets; what is mounted on that one comes
  // next.
  const MountLine* current = &lines_[*root_];
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
