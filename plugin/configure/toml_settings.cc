#include "configure/toml_settings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "configure/settings_error.h"
#include "configure/text_form.h"
#include "configure/toml_statements.h"

namespace configure {
namespace {

using Kind = TomlStatement::Kind;
using Statements = std::vector<TomlStatement>;

std::string PrintString(const std::string& text) {
  // JSON's escapes are TOML's; only DEL need not be escaped in JSON.
  std::string printed = Json(text).dump();
  for (std::size_t at = 0; (at = printed.find('\x7f', at)) != std::string::npos; at += 6) {
    printed.replace(at, 1, "\\u007F");
  }
  return printed;
}

std::string Print(const Json& value) {
  if (value.is_string()) return PrintString(value.get<std::string>());
  if (!value.is_array()) return value.dump();
  std::string items;
  for (const Json& item : value) items += (items.empty() ? "" : ", ") + Print(item);
  return "[" + items + "]";
}

/// Whether the text of a value means `wanted`, however it is written.
bool Means(const std::string& raw, const Json& wanted) {
  return SameTomlValue(raw, Print(wanted));
}

std::string Slice(const std::string& text, std::size_t from, std::size_t to) {
  return text.substr(from, to - from);
}

bool StartsWith(const KeyPath& path, const KeyPath& prefix) {
  return path.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

KeyPath Joined(KeyPath path, const std::string& name) {
  path.push_back(name);
  return path;
}

const TomlStatement* Find(const Statements& statements, Kind kind, const KeyPath& path) {
  const auto found = std::find_if(statements.begin(), statements.end(), [&](const auto& each) {
    return each.kind == kind && each.path == path;
  });
  return found == statements.end() ? nullptr : &*found;
}

[[noreturn]] void FailForm(const std::string& text, const TomlStatement& statement,
                           const KeyPath& table) {
  throw SettingsError(PositionAt(text, text.find_first_not_of(" \t", statement.begin)),
                      "\"" + Dotted(table) +
                          "\" is written in a form that is not changed here; write it as a table "
                          "under a line [" +
                          Dotted(table) + "]");
}

/// Refuses a table that is written as a value, with dotted keys elsewhere, or as an array's table.
void RequireTable(const std::string& text, const Statements& statements, const KeyPath& table) {
  for (const TomlStatement& each : statements) {
    const bool as_value = each.kind == Kind::kKey && StartsWith(table, each.path);
    const bool dotted =
        each.kind == Kind::kKey && StartsWith(each.path, table) && each.table_depth < table.size();
    const bool of_array = each.kind == Kind::kTableOfArray &&
                          (StartsWith(table, each.path) || StartsWith(each.path, table));
    if (as_value || dotted || of_array) FailForm(text, each, table);
  }
}

std::string LineAt(const std::string& text, std::size_t at, const std::string& line) {
  const std::string line_end(LineEndOf(text));
  const bool open = at > 0 && text[at - 1] != '\n' && at > ByteOrderMarkSize(text);
  return text.substr(0, at) + (open ? line_end : "") + line + line_end + text.substr(at);
}

std::string AppendTable(std::string text, const KeyPath& table) {
  const std::string line_end(LineEndOf(text));
  if (text.size() > ByteOrderMarkSize(text)) {
    if (text.back() != '\n') text += line_end;
    text += line_end;
  }
  return text + "[" + Dotted(table) + "]" + line_end;
}

/// The statement of a table behind which the next key goes: its last key, else its header.
const TomlStatement* LastOfTable(const Statements& statements, const KeyPath& table) {
  const TomlStatement* last = nullptr;
  for (const TomlStatement& each : statements) {
    const bool header = each.kind == Kind::kTable && each.path == table;
    const bool key =
        each.kind == Kind::kKey && each.table_depth == table.size() && StartsWith(each.path, table);
    if (header || key) last = &each;
  }
  return last;
}

std::string IndentOf(const std::string& text, const TomlStatement& statement) {
  return Slice(text, statement.begin, text.find_first_not_of(" \t", statement.begin));
}

/// What becomes of a text that has no line end at its end: it has none afterwards either.
std::string AsOpenAs(const std::string& before, std::string after) {
  const bool open = before.size() > ByteOrderMarkSize(before) && before.back() != '\n';
  if (!open || !after.ends_with('\n')) return after;
  after.resize(after.size() - LineEndOf(after).size());
  return after;
}

/// Takes the blank lines at the end of a text off, so that they stay at its end.
std::string CutBlankLines(std::string& text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  const std::size_t line_end = last == std::string::npos ? last : text.find('\n', last);
  if (line_end == std::string::npos) return "";
  std::string blank = text.substr(line_end + 1);
  text.resize(line_end + 1);
  return blank;
}

/// Whose table the key comes to stand in: one that was there without keys stays when the key goes.
enum class Table { kOurs, kUsers };

std::string InsertKey(const std::string& text, const KeyPath& path, const Json& value,
                      Table owner) {
  const Statements statements = ParseToml(text);
  const KeyPath table(path.begin(), path.end() - 1);
  const std::string line = path.back() + " = " + Print(value);
  if (const TomlStatement* last = LastOfTable(statements, table)) {
    const bool is_first = owner == Table::kUsers && last->kind == Kind::kTable;
    const std::string gap(is_first ? LineEndOf(text) : "");
    return LineAt(text, last->end, gap + IndentOf(text, *last) + line);
  }
  if (table.empty()) {
    // Behind a header it would belong to that table.
    const std::size_t start = ByteOrderMarkSize(text);
    const bool alone = statements.empty() && text.size() == start;
    return LineAt(text, start, alone ? line : line + std::string(LineEndOf(text)));
  }
  const auto dotted = std::find_if(statements.rbegin(), statements.rend(), [&](const auto& each) {
    return each.kind == Kind::kKey && each.table_depth == 0 && StartsWith(each.path, table);
  });
  if (dotted != statements.rend()) {
    return LineAt(text, dotted->end, IndentOf(text, *dotted) + Dotted(table) + "." + line);
  }
  return AppendTable(text, table) + line + std::string(LineEndOf(text));
}

std::string EraseLines(std::string text, std::size_t from, std::size_t to) {
  text.erase(from, to - from);
  return text;
}

/// Takes lines away with the blank line that AppendTable has put before them.
std::string EraseBlock(const std::string& text, std::size_t from, std::size_t to) {
  for (const std::string_view blank : {"\r\n\r\n", "\n\n"}) {
    if (std::string_view(text).substr(0, from).ends_with(blank)) {
      return EraseLines(text, from - blank.size() / 2, to);
    }
  }
  return EraseLines(text, from, to);
}

std::string EraseKey(std::string text, const KeyPath& path) {
  const Statements statements = ParseToml(text);
  const TomlStatement* statement = Find(statements, Kind::kKey, path);
  if (statement == nullptr) return text;
  const KeyPath table(path.begin(),
                      path.begin() + static_cast<std::ptrdiff_t>(statement->table_depth));
  const TomlStatement* header = Find(statements, Kind::kTable, table);
  const auto keys = std::count_if(statements.begin(), statements.end(), [&](const auto& each) {
    return each.kind == Kind::kKey && each.table_depth == table.size() &&
           StartsWith(each.path, table);
  });
  if (header != nullptr && keys == 1 && header->end == statement->begin) {
    return EraseBlock(text, header->begin, statement->end);
  }
  const std::size_t start = ByteOrderMarkSize(text);
  const bool has_gap = header != nullptr && keys == 1 &&
                       Slice(text, header->end, statement->begin) == LineEndOf(text);
  text = EraseLines(std::move(text), has_gap ? header->end : statement->begin, statement->end);
  // The blank line that InsertKey has put behind the first line of the file.
  const std::string line_end(LineEndOf(text));
  if (table.empty() && statement->begin == start &&
      std::string_view(text).substr(start).starts_with(line_end)) {
    text.erase(start, line_end.size());
  }
  return text;
}

std::string ApplyEntry(std::string text, const KeyPath& path, const Json& value) {
  const bool something = std::any_of(value.begin(), value.end(), [](const Json& member) {
    return !member.is_null() && !member.is_object();
  });
  Statements statements = ParseToml(text);
  if (something || Find(statements, Kind::kTable, path) != nullptr) {
    RequireTable(text, statements, path);
  }
  if (something && Find(statements, Kind::kTable, path) == nullptr) text = AppendTable(text, path);
  for (const auto& [name, member] : value.items()) {
    const KeyPath inner = Joined(path, name);
    statements = ParseToml(text);
    const TomlStatement* there = Find(statements, Kind::kKey, inner);
    if (member.is_object()) {
      text = ApplyEntry(std::move(text), inner, member);
    } else if (member.is_null()) {
      text = EraseKey(std::move(text), inner);
    } else if (there == nullptr) {
      text = InsertKey(text, inner, member, Table::kOurs);
    } else if (!Means(Slice(text, there->value, there->value_end), member)) {
      text.replace(there->value, there->value_end - there->value, Print(member));
    }
  }
  return text;
}

std::string RemoveEntry(std::string text, const KeyPath& path) {
  while (true) {
    const Statements statements = ParseToml(text);
    // The last one, so that blank lines between tables of ours go with them.
    const auto header = std::find_if(statements.rbegin(), statements.rend(), [&](const auto& each) {
      return each.kind == Kind::kTable && StartsWith(each.path, path);
    });
    if (header == statements.rend()) return text;
    std::size_t end = header->end;
    for (auto each = header.base(); each != statements.end() && each->kind == Kind::kKey; ++each) {
      end = each->end;
    }
    text = EraseBlock(text, header->begin, end);
  }
}

std::string RestoreMark() {
  return " # " + std::string(kRestoreMark);
}

std::string RestOfLine(const std::string& text, std::size_t from) {
  return Slice(text, from, std::min(text.find_first_of("\r\n", from), text.size()));
}

std::string ApplySetting(std::string text, const Change& change, bool configured_before) {
  const Statements statements = ParseToml(text);
  const TomlStatement* there = Find(statements, Kind::kKey, change.path);
  if (there == nullptr) {
    for (const TomlStatement& each : statements) {
      const bool above = each.kind == Kind::kKey && StartsWith(change.path, each.path);
      if (above) FailForm(text, each, KeyPath(change.path.begin(), change.path.end() - 1));
    }
    return InsertKey(text, change.path, change.value, Table::kUsers);
  }
  const std::string before = Slice(text, there->value, there->value_end);
  const std::string rest = RestOfLine(text, there->value_end);
  const bool same = Means(before, change.value);
  if (same && (configured_before || rest.starts_with(RestoreMark()))) return text;
  if (before.find('\n') != std::string::npos) {
    FailForm(text, *there, KeyPath(change.path.begin(), change.path.end() - 1));
  }
  const std::string kept = rest.starts_with(RestoreMark()) ? "" : RestoreMark() + before;
  return text.substr(0, there->value) + Print(change.value) + kept + text.substr(there->value_end);
}

std::string RemoveSetting(std::string text, const Change& change) {
  const Statements statements = ParseToml(text);
  const TomlStatement* there = Find(statements, Kind::kKey, change.path);
  if (there == nullptr || !Means(Slice(text, there->value, there->value_end), change.value)) {
    return text;
  }
  if (RestOfLine(text, there->value_end).starts_with(RestoreMark())) {
    return EraseLines(std::move(text), there->value, there->value_end + RestoreMark().size());
  }
  return EraseKey(std::move(text), change.path);
}

std::string RemoveChange(std::string text, const Change& change) {
  return change.kind == Change::Kind::kEntry ? RemoveEntry(std::move(text), change.path)
                                             : RemoveSetting(std::move(text), change);
}

}  // namespace

std::string ApplyToToml(std::string text, const std::vector<Change>& changes,
                        bool configured_before) {
  const std::string blank = CutBlankLines(text);
  const std::string before = text;
  for (const Change& change : changes) {
    if (!change.wanted) {
      if (configured_before) text = RemoveChange(std::move(text), change);
    } else if (change.kind == Change::Kind::kEntry) {
      text = ApplyEntry(std::move(text), change.path, change.value);
    } else {
      text = ApplySetting(std::move(text), change, configured_before);
    }
  }
  text = AsOpenAs(before, std::move(text)) + blank;
  (void)ParseToml(text);  // nothing invalid may leave here
  return text;
}

std::string RemoveFromToml(std::string text, const std::vector<Change>& changes) {
  const std::string blank = CutBlankLines(text);
  const std::string before = text;
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    text = RemoveChange(std::move(text), *change);
  }
  text = AsOpenAs(before, std::move(text)) + blank;
  (void)ParseToml(text);
  return text;
}

bool TomlHasEntry(const std::string& text, const std::vector<Change>& changes) {
  const Statements statements = ParseToml(text);
  return std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
    return change.kind == Change::Kind::kEntry &&
           Find(statements, Kind::kTable, change.path) != nullptr;
  });
}

}  // namespace configure
