#include "configure/toml_settings.h"

#include <toml++/toml.h>

#include <algorithm>
#include <map>

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

std::string_view WithoutLineEnd(std::string_view line) {
  return line.substr(0, line.find_last_not_of("\r\n") + 1);
}

/// With their line ends.
Lines SplitLines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

toml::table Parse(const std::string& text) {
  // toml++ makes a table of each name of a dotted key, and destroys them recursively.
  constexpr std::ptrdiff_t kMaximumDots = 1000;
  std::size_t number = 0;
  for (const std::string& line : SplitLines(text)) {
    ++number;
    if (std::count(line.begin(), line.end(), '.') > kMaximumDots) {
      throw SettingsError({.line = number}, "this line has too many dots");
    }
  }
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    throw SettingsError({.line = at.line, .column = at.column}, std::string(error.description()));
  }
}

std::string Print(const Json& value) {
  if (value.is_string()) return TomlString(value.get<std::string>());
  if (!value.is_array()) return value.dump();
  std::string items;
  for (const Json& item : value) items += (items.empty() ? "" : ", ") + Print(item);
  return "[" + items + "]";
}

void PrintTable(const KeyPath& path, const Json& value, Lines& lines) {
  lines.push_back("[" + Dotted(path) + "]");
  for (const auto& [name, member] : value.items()) {
    if (!member.is_object()) lines.push_back(name + " = " + Print(member));
  }
  for (const auto& [name, member] : value.items()) {
    if (!member.is_object()) continue;
    KeyPath inner = path;
    inner.push_back(name);
    PrintTable(inner, member, lines);
  }
}

std::string Block(const Lines& lines, const std::string& line_end) {
  if (lines.empty()) return "";
  std::string block = std::string(kBegin) + line_end;
  for (const std::string& line : lines) block += line + line_end;
  return block.append(kEnd).append(line_end);
}

const toml::node* Find(const toml::table& root, const KeyPath& path) {
  const toml::node* node = &root;
  for (const std::string& name : path) {
    const toml::table* table = node->as_table();
    node = table == nullptr ? nullptr : table->get(name);
    if (node == nullptr) return nullptr;
  }
  return node;
}

/// Collects the lines of the blocks, by their places.
class Editor {
 public:
  explicit Editor(const std::string& text) : lines_(SplitLines(text)), root_(Parse(text)) {}

  void Set(const KeyPath& path, const Json& value) {
    if (const toml::node* node = Find(root_, path)) return Replace(path, *node, value);
    const KeyPath table = {path.begin(), path.end() - 1};
    const toml::node* node = table.empty() ? nullptr : Find(root_, table);
    if (node != nullptr && LineOf(*node).starts_with("[" + Dotted(table) + "]")) {
      after_[node->source().begin.line].push_back(path.back() + " = " + Print(value));
    } else {
      after_[0].push_back(Dotted(path) + " = " + Print(value));
    }
  }

  void AddTable(const KeyPath& path, const Json& value) {
    if (const toml::node* node = Find(root_, path)) {
      Fail(*node, "\"" + Dotted(path) + "\" is there already; delete or rename it");
    }
    PrintTable(path, value, after_[lines_.size()]);
  }

  [[nodiscard]] std::string Text(const std::string& line_end) const {
    std::string text = BlockAfter(0, line_end);
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const auto replacement = instead_.find(i + 1);
      text += replacement == instead_.end() ? lines_[i] : Block(replacement->second, line_end);
      text += BlockAfter(i + 1, line_end);
    }
    return text;
  }

 private:
  [[noreturn]] static void Fail(const toml::node& node, const std::string& reason) {
    const toml::source_position at = node.source().begin;
    throw SettingsError({.line = at.line, .column = at.column}, reason);
  }

  [[nodiscard]] std::string_view LineOf(const toml::node& node) const {
    const std::size_t number = node.source().begin.line;
    return number == 0 ? "" : Trimmed(lines_.at(number - 1));
  }

  /// The user's key must be the only thing on its line.
  void Replace(const KeyPath& path, const toml::node& node, const Json& value) {
    const std::string_view line = LineOf(node);
    const std::size_t number = node.source().begin.line;
    for (const std::string& name : {path.back(), Dotted(path)}) {
      if (!line.starts_with(name) || number != node.source().end.line) continue;
      if (!Trimmed(line.substr(name.size())).starts_with('=')) continue;
      const std::string_view replaced = WithoutLineEnd(lines_[number - 1]);
      instead_[number] = {std::string(kReplaced).append(replaced), name + " = " + Print(value)};
      return;
    }
    Fail(node, "\"" + Dotted(path) + "\" is not on a line of its own; change it by hand");
  }

  [[nodiscard]] std::string BlockAfter(std::size_t line, const std::string& line_end) const {
    const auto block = after_.find(line);
    return block == after_.end() ? "" : Block(block->second, line_end);
  }

  Lines lines_;
  toml::table root_;
  std::map<std::size_t, Lines> after_;    ///< by the number of the line before, or 0
  std::map<std::size_t, Lines> instead_;  ///< by the number of the line
};

/// Runs `edit` on the text between a byte order mark and a line end that is made if there is none.
template <typename Edit>
std::string Between(const std::string& text, const Edit& edit) {
  const std::size_t mark = ByteOrderMarkSize(text);
  const std::string line_end = LineEndOf(text);
  const bool is_open = text.size() > mark && !text.ends_with('\n');
  std::string result = edit(text.substr(mark) + (is_open ? line_end : ""), line_end);
  if (is_open && result.ends_with(line_end)) result.resize(result.size() - line_end.size());
  return text.substr(0, mark) + result;
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
  const std::string result = Between(text, [&](const std::string& body, const std::string& end) {
    Editor editor(body);
    for (const Change& change : changes) {
      if (change.kind == Kind::kEntry) {
        editor.AddTable(change.path, change.value);
      } else {
        editor.Set(change.path, change.value);
      }
    }
    return editor.Text(end);
  });
  try {
    (void)Parse(result);
  } catch (const SettingsError& error) {
    throw SettingsError({},
                        "the settings cannot be added to this file: " + std::string(error.what()));
  }
  return result;
}

std::string RemoveFromToml(const std::string& text, const std::vector<Change>& changes) {
  return Between(text, [&](const std::string& body, const std::string& /*line_end*/) {
    std::string result;
    bool in_block = false;
    bool is_foreign = false;
    for (const std::string& line : SplitLines(body)) {
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
    if (in_block) {
      throw SettingsError(
          {}, "the block \"" + std::string(kBegin) + "\" has no end; delete it by hand");
    }
    return result;
  });
}

bool TomlHasEntry(const std::string& text, const std::vector<Change>& changes) {
  const Lines lines = SplitLines(text);
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return IsHeaderOf(Trimmed(line), changes); });
}

std::string TomlString(std::string_view text) {
  // JSON's escapes are TOML's; only DEL need not be escaped in JSON.
  std::string quoted = nlohmann::json(text).dump();
  for (std::size_t at = 0; (at = quoted.find('\x7f', at)) != std::string::npos; at += 6) {
    quoted.replace(at, 1, "\\u007F");
  }
  return quoted;
}

}  // namespace configure
