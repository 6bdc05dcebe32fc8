#include "configure/settings.h"

#include <algorithm>
#include <utility>

#include "configure/json_text.h"
#include "support/join.h"

namespace configure {
namespace {

constexpr const char* kReason = ": otherwise the agent has tools of its own, for this host";

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == text.npos;
}

/// The order of members does not count, since agents change it.
bool SameValue(const Json& left, const Json& right) {
  return nlohmann::json(left) == nlohmann::json(right);
}

bool Contains(const Json& list, const Json& element) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Json& each) { return SameValue(each, element); });
}

KeyPath Below(KeyPath path, const std::string& key) {
  path.push_back(key);
  return path;
}

Json::json_pointer PointerTo(const KeyPath& path) {
  Json::json_pointer pointer;
  for (const std::string& key : path) pointer.push_back(key);
  return pointer;
}

/// Null if there is none.
Json ValueAt(const Json& settings, const KeyPath& path) {
  return settings.contains(PointerTo(path)) ? settings.at(PointerTo(path)) : Json();
}

bool IsEntry(const KeyPath& path, const Json& wanted) {
  return wanted.is_object() && !path.empty() && path.back() == kServerName;
}

/// "mcpServers.lima: VALUE", for people.
std::string Shown(const KeyPath& path, const Json& value) {
  return support::Join(path, ".") + ": " + value.dump();
}

/// The words of an entry after "serve": INSTANCE, options, --root DIRECTORY. Empty if it does not
/// start our server.
Json ServeWords(const Json& entry) {
  const Json words = entry.value("args", entry.value("command", Json()));
  const auto serve = std::find(words.begin(), words.end(), "serve");
  return words.is_array() && serve != words.end() ? Json(std::vector<Json>(serve + 1, words.end()))
                                                  : Json::array();
}

bool HasOptions(const Json& serve_words) {
  return serve_words.size() != 3 || serve_words[1] != "--root";
}

/// Adds parts of a file to its text, and takes them away.
struct Editor {
  const SettingsFile& file;
  std::string before;
  std::string text = before;
  std::vector<std::string> lines = {};  ///< as Edited::lines
  bool in_copy = false;
  bool took_entry = false;

  [[nodiscard]] Json ValueNow(const KeyPath& path) const { return ValueAt(ParseJson(text), path); }

  void Refuse(const KeyPath& path, const std::string& must, const std::string& index = "") {
    const KeyPath place = index.empty() ? path : Below(path, index);
    lines.push_back(PlaceOf(before, place) + ": \"" + support::Join(path, ".") + "\" must " + must);
  }

  /// Adds members that are missing, with any values.
  void AddMissing(const KeyPath& path, const Json& wanted) {
    const Json now = ValueNow(path);
    for (const auto& [key, member] : wanted.items()) {
      if (!now.contains(key)) {
        text = SetAt(text, Below(path, key), member);
      } else if (member.is_object() && now[key].is_object()) {
        AddMissing(Below(path, key), member);
      }
    }
  }

  void MoveToEnd(const KeyPath& path, const Json& ours) {
    if (ValueNow(path).dump().ends_with(ours.dump().substr(1))) return;
    for (const auto& [key, member] : ours.items()) text = EraseAt(text, Below(path, key));
    for (const auto& [key, member] : ours.items()) text = SetAt(text, Below(path, key), member);
  }

  /// Adds what is missing. Refuses values of the user's that are in the way.
  void Add(const KeyPath& path, const Json& wanted) {
    const Json now = ValueNow(path);
    if (wanted.is_object() && !now.is_object()) {
      Refuse(path, "be an object");
    } else if (IsEntry(path, wanted)) {
      AddToEntry(path, wanted);
    } else if (wanted.is_object()) {
      for (const auto& [key, member] : wanted.items()) {
        if (now.contains(key)) {
          Add(Below(path, key), member);
        } else {
          text = SetAt(text, Below(path, key), member);
        }
      }
    } else if (wanted.is_array() && !now.is_array()) {
      Refuse(path, "be a list");
    } else if (wanted.is_array()) {
      for (const Json& element : wanted) {
        if (!Contains(now, element)) text = SetAt(text, Below(path, "-"), element);
      }
    } else if (now != wanted) {
      Refuse(path, "be " + wanted.dump() + kReason);
    }
  }

  /// Keeps what the user has changed in the entry. Without options of the user's, the command is
  /// ours.
  void AddToEntry(const KeyPath& path, const Json& wanted) {
    AddMissing(path, wanted);
    const Json entry = ValueNow(path);
    const Json ours = ServeWords(wanted);
    const Json theirs = ServeWords(entry);
    const bool is_same_instance = !ours.empty() && !theirs.empty() && ours[0] == theirs[0];
    const bool is_kept =
        HasOptions(theirs) && (ours == theirs || (is_same_instance && !HasOptions(ours)));
    in_copy = is_kept && theirs.dump().find("\"--copy=") != std::string::npos;
    for (const std::string key : {"args", "command", "timeout"}) {
      const bool is_ours = wanted.contains(key) && (key != "timeout" || HasOptions(ours));
      if (!is_ours || is_kept || entry.at(key) == wanted.at(key)) continue;
      if (HasOptions(theirs)) {
        return Refuse(Below(path, key), "be " + wanted.at(key).dump() +
                                            ": it starts something else, or has options of yours");
      }
      text = SetAt(text, Below(path, key), wanted.at(key));
    }
  }

  void RequireAllowed() {
    const Json ours = ValueAt(file.wanted, file.allowed);
    const Json now = ValueNow(file.allowed);
    for (const auto& [index, element] : now.items()) {
      if (element.dump().starts_with("\"mcp_") || Contains(ours, element)) continue;
      Refuse(file.allowed, "not have " + element.dump() + kReason, index);
    }
  }

  /// Takes away what equals `ours`, and containers that are empty then, but for those with a
  /// comment.
  void TakeAway(const KeyPath& path, const Json& ours) {
    const Json now = ValueNow(path);
    const bool is_entry = IsEntry(path, ours);
    if (is_entry ? !now.is_null() : !ours.is_structured() && now == ours) {
      lines.push_back(Shown(path, now));
      took_entry |= is_entry;
      text = EraseAt(text, path);
    } else if (ours.is_object()) {
      for (const auto& [key, member] : ours.items()) TakeAway(Below(path, key), member);
    } else if (ours.is_array() && now.is_array()) {
      std::size_t kept = 0;
      for (const Json& element : now) {
        if (!Contains(ours, element)) {
          ++kept;
          continue;
        }
        lines.push_back(Shown(path, element));
        text = EraseAt(text, Below(path, std::to_string(kept)));
      }
    }
    const Json left = ValueNow(path);
    const bool stays = path.empty() || file.initial.contains(PointerTo(path));
    if (left.is_structured() && left.empty() && !stays && !HasComment(text, path)) {
      text = EraseAt(text, path);
    }
  }
};

}  // namespace

Edited Add(const SettingsFile& file, const std::optional<std::string>& before, bool trusted) {
  const bool is_new = !before || IsBlank(*before);
  if (file.format == Format::kText) {
    if (is_new || *before == file.text) return {file.text};
    throw support::CallError(": this file is not the one that configure writes; move it away");
  }
  Editor editor = {file, is_new ? file.initial.dump(2) + "\n" : *before};
  if (!editor.ValueNow({}).is_object()) {
    throw support::CallError(PlaceOf(editor.text, {}) + ": the file must be an object");
  }
  const bool is_trusted_anew = trusted && !Remove(file, before).was_trusted;
  if (is_trusted_anew) editor.TakeAway({}, file.untrusted);
  editor.lines.clear();
  editor.AddMissing({}, file.initial);
  if (!file.allowed.empty()) editor.RequireAllowed();
  editor.Add({}, file.wanted);
  const Json& more = trusted ? file.trusted : file.untrusted;
  editor.Add({}, more);
  if (!file.last.empty() && editor.lines.empty()) {
    Json ours = ValueAt(file.wanted, file.last);
    ours.update(ValueAt(more, file.last));
    editor.MoveToEnd(file.last, ours);
  }
  return {.text = editor.text, .lines = editor.lines, .in_copy = editor.in_copy};
}

Edited Remove(const SettingsFile& file, const std::optional<std::string>& before) {
  if (!before || IsBlank(*before)) return {before};
  if (file.format == Format::kText) {
    return *before == file.text ? Edited{std::nullopt} : Edited{before};
  }
  Editor editor = {file, *before};
  editor.TakeAway({}, file.trusted);
  const bool was_trusted = !editor.lines.empty();
  editor.TakeAway({}, file.untrusted);
  editor.TakeAway({}, file.wanted);
  Edited edited = {.text = before,
                   .lines = editor.lines,
                   .had_entry = editor.took_entry,
                   .was_trusted = was_trusted};
  if (edited.lines.empty()) return edited;
  const Json left = ParseJson(editor.text);
  const bool is_empty = left.empty() || SameValue(left, file.initial);
  edited.text = editor.text;
  if (is_empty && editor.text.find('/') == std::string::npos) edited.text.reset();
  return edited;
}

bool HasOurs(const SettingsFile& file, const std::optional<std::string>& text) {
  if (file.format != Format::kToml) return Remove(file, text).text != text;
  const std::string table = std::string("\n[mcp_servers.") + kServerName;
  const std::string lines = "\n" + text.value_or("");
  return lines.find(table + "]") != lines.npos || lines.find(table + ".") != lines.npos;
}

}  // namespace configure
