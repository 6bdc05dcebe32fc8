#include "configure/toml_settings.h"

#include <toml++/toml.h>

#include <algorithm>

#include "configure/settings_error.h"

namespace configure {
namespace {

using Kind = Change::Kind;
using Lines = std::vector<std::string>;

constexpr std::string_view kBegin = "# >>> limactl-mcp";
constexpr std::string_view kEnd = "# <<< limactl-mcp";
constexpr std::string_view kReplaced = "# replaces: ";

std::string_view Trimmed(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  return line.substr(begin, line.find_last_not_of(" \t\r\n") + 1 - begin);
}

/// Each line with its line end.
Lines SplitLines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

void RequireToml(const std::string& text) {
  // toml++ makes a table of each name of a dotted key, and destroys them recursively.
  constexpr std::ptrdiff_t kMaximumDots = 1000;
  const Lines lines = SplitLines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (std::count(lines[i].begin(), lines[i].end(), '.') > kMaximumDots) {
      throw SettingsError(i + 1, 1, "this line has too many dots");
    }
  }
  try {
    (void)toml::parse(text);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    throw SettingsError(at.line, at.column, std::string(error.description()));
  }
}

std::string Key(const std::string& name) {
  const bool is_bare = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  return is_bare ? name : TomlValue(name);
}

std::string Block(const std::string& lines, const std::string& line_end) {
  if (lines.empty()) return "";
  return std::string(kBegin) + line_end + lines + std::string(kEnd) + line_end;
}

std::string Table(const KeyPath& path, const Json& value, const std::string& line_end) {
  std::string keys;
  std::string tables;
  for (const auto& [name, member] : value.items()) {
    if (member.is_object()) {
      KeyPath inner = path;
      inner.push_back(name);
      tables += Table(inner, member, line_end);
    } else {
      keys += Key(name) + " = " + TomlValue(member) + line_end;
    }
  }
  return "[" + Dotted(path) + "]" + line_end + keys + tables;
}

/// "[features]" of a setting "features.shell_tool"; empty for a setting of the root.
std::string HeaderOf(const Change& setting) {
  const KeyPath& path = setting.path;
  return path.size() < 2 ? "" : "[" + Dotted({path.begin(), path.end() - 1}) + "]";
}

bool Defines(std::string_view line, std::string_view name) {
  return line.starts_with(name) && Trimmed(line.substr(name.size())).starts_with('=');
}

/// The lines of the settings whose table begins with `header`.
std::string SettingsOf(const std::string& header, const std::vector<Change>& changes,
                       const std::string& line_end) {
  std::string lines;
  for (const Change& change : changes) {
    if (change.kind == Kind::kEntry || HeaderOf(change) != header) continue;
    lines += change.path.back() + " = " + TomlValue(change.value) + line_end;
  }
  return lines;
}

std::string AddBlocks(const std::string& text, const std::vector<Change>& changes,
                      const std::string& line_end) {
  std::string edited;
  std::string header;  // of the table that the line is in
  Lines headers;
  for (const std::string& line : SplitLines(text)) {
    const std::string_view words = Trimmed(line);
    const bool is_header = words.starts_with('[');
    if (is_header) {
      header = words.substr(0, words.find(']') + 1);
      headers.push_back(header);
    }
    const bool is_replaced = std::any_of(changes.begin(), changes.end(), [&](const Change& each) {
      return each.kind != Kind::kEntry &&
             ((header.empty() && Defines(words, Dotted(each.path))) ||
              (header == HeaderOf(each) && Defines(words, each.path.back())));
    });
    edited += is_replaced ? Block(std::string(kReplaced) + line, line_end) : line;
    if (is_header) edited += Block(SettingsOf(header, changes, line_end), line_end);
  }
  std::string top;
  std::string bottom;
  for (const Change& change : changes) {
    if (change.kind == Kind::kEntry) {
      bottom += Table(change.path, change.value, line_end);
    } else if (std::find(headers.begin(), headers.end(), HeaderOf(change)) == headers.end()) {
      top += Dotted(change.path) + " = " + TomlValue(change.value) + line_end;
    }
  }
  return Block(top, line_end) + edited + Block(bottom, line_end);
}

bool IsHeaderOf(std::string_view line, const std::vector<Change>& changes) {
  return std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
    const std::string header = "[" + Dotted(change.path);
    return change.kind == Kind::kEntry &&
           (line.starts_with(header + "]") || line.starts_with(header + "."));
  });
}

std::string RemoveBlocks(const std::string& text, const std::vector<Change>& changes) {
  std::string result;
  bool in_block = false;
  bool is_foreign = false;
  for (const std::string& line : SplitLines(text)) {
    const std::string_view words = Trimmed(line);
    if (words == kBegin || words == kEnd) {
      in_block = words == kBegin;
      is_foreign = false;
    } else if (!in_block) {
      result += line;
    } else if (words.starts_with(kReplaced)) {
      result += line.substr(line.find(kReplaced) + kReplaced.size());
    } else {
      // toml_edit, which Codex uses, adds tables before the last comment.
      if (words.starts_with('[')) is_foreign = !IsHeaderOf(words, changes);
      if (is_foreign) result += line;
    }
  }
  if (!in_block) return result;
  throw SettingsError("the block \"" + std::string(kBegin) + "\" has no end; delete it by hand");
}

/// Runs `edit` on the text between a byte order mark and the last line end, which may be missing.
template <typename Edit>
std::string Between(const std::string& text, const Edit& edit) {
  const std::size_t mark = ByteOrderMarkSize(text);
  const std::string line_end = LineEndOf(text);
  const bool is_open = text.size() > mark && !text.ends_with('\n');
  std::string result = edit(text.substr(mark) + (is_open ? line_end : ""), line_end);
  if (is_open && result.ends_with(line_end)) result.resize(result.size() - line_end.size());
  return text.substr(0, mark) + result;
}

}  // namespace

std::string ApplyToToml(const std::string& text, const std::vector<Change>& changes) {
  RequireToml(text);
  const auto add = [&](const std::string& body, const std::string& line_end) {
    return AddBlocks(body, changes, line_end);
  };
  std::string result = Between(text, add);
  try {
    RequireToml(result);
  } catch (const SettingsError&) {
    throw SettingsError("cannot add the settings: the file defines one of them in another form");
  }
  return result;
}

std::string RemoveFromToml(const std::string& text, const std::vector<Change>& changes) {
  return Between(text, [&](const std::string& body, const std::string& /*line_end*/) {
    return RemoveBlocks(body, changes);
  });
}

bool TomlHasEntry(const std::string& text, const std::vector<Change>& changes) {
  const Lines lines = SplitLines(text);
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return IsHeaderOf(Trimmed(line), changes); });
}

std::string TomlValue(const Json& value) {
  if (value.is_structured()) {
    std::string items;
    for (const auto& [name, item] : value.items()) {
      if (!items.empty()) items += ", ";
      if (value.is_object()) items += Key(name) + " = ";
      items += TomlValue(item);
    }
    return value.is_object() ? "{" + items + "}" : "[" + items + "]";
  }
  // JSON's escapes are TOML's; only DEL need not be escaped in JSON.
  std::string text = value.dump();
  for (std::size_t at = 0; (at = text.find('\x7f', at)) != std::string::npos; at += 6) {
    text.replace(at, 1, "\\u007F");
  }
  return text;
}

}  // namespace configure
