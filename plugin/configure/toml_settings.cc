#include "configure/toml_settings.h"

#include <toml++/toml.h>

#include <algorithm>

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

std::string Block(const std::string& lines) {
  if (lines.empty()) return "";
  return std::string(kBegin) + "\n" + lines + std::string(kEnd) + "\n";
}

std::string Table(const KeyPath& path, const Json& value) {
  std::string lines = "[" + Dotted(path) + "]\n";
  for (const auto& [name, member] : value.items()) {
    lines += Key(name) + " = " + TomlValue(member) + "\n";
  }
  return lines;
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
std::string SettingsOf(const std::string& header, const std::vector<Change>& changes) {
  std::string lines;
  for (const Change& change : changes) {
    if (change.kind == Kind::kEntry || HeaderOf(change) != header) continue;
    lines += change.path.back() + " = " + TomlValue(change.value) + "\n";
  }
  return lines;
}

std::string AddBlocks(const std::string& text, const std::vector<Change>& changes) {
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
    edited += is_replaced ? Block(std::string(kReplaced) + line) : line;
    if (is_header) edited += Block(SettingsOf(header, changes));
  }
  std::string top;
  std::string bottom;
  for (const Change& change : changes) {
    if (change.kind == Kind::kEntry) {
      bottom += Table(change.path, change.value);
    } else if (std::find(headers.begin(), headers.end(), HeaderOf(change)) == headers.end()) {
      top += Dotted(change.path) + " = " + TomlValue(change.value) + "\n";
    }
  }
  return Block(top) + edited + Block(bottom);
}

bool IsHeaderOf(std::string_view line, const std::vector<Change>& changes) {
  return std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
    const std::string header = "[" + Dotted(change.path);
    return change.kind == Kind::kEntry &&
           (line.starts_with(header + "]") || line.starts_with(header + "."));
  });
}

}  // namespace

std::string ApplyToToml(const std::string& text, const std::vector<Change>& changes) {
  RequireToml(text);
  const bool is_open = !text.empty() && !text.ends_with('\n');
  std::string result = AddBlocks(text + (is_open ? "\n" : ""), changes);
  try {
    RequireToml(result);
  } catch (const SettingsError&) {
    throw SettingsError("cannot add the settings: the file defines one of them in another form");
  }
  return result;
}

std::string RemoveFromToml(const std::string& text, const std::vector<Change>& changes) {
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
