#include "configure/settings.h"

#include <algorithm>
#include <utility>

#include "configure/json_text.h"
#include "support/join.h"

namespace configure {
namespace {

using Kind = Change::Kind;
using Pointer = Json::json_pointer;

constexpr const char* kNoSettings = "{\n}\n";

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

Pointer PointerTo(const KeyPath& path) {
  Pointer pointer;
  for (const std::string& key : path) pointer.push_back(key);
  return pointer;
}

void EraseAt(Json& settings, const Pointer& at) {
  settings[at.parent_pointer()].erase(at.back());
}

/// Adds one change to `settings`, the value of `text`. Throws SettingsError if a value of the
/// user's is in the way.
class Addition {
 public:
  Addition(std::string_view text, const Change& change) : text_(text), change_(change) {}

  void AddTo(Json& settings) const {
    const Pointer at = PointerTo(change_.path);
    Json wanted;
    wanted[at] = change_.value;
    AddMissing(settings, {}, wanted);
    if (change_.kind == Kind::kEntry) AddCommand(settings[at]);
    if (change_.kind == Kind::kRules) MoveToEnd(settings[at]);
  }

 private:
  [[noreturn]] void Refuse(const KeyPath& path, const std::string& must) const {
    FailAt(text_, path, "\"" + Dotted(path) + "\" must " + must);
  }

  void AddMissing(Json& now, const KeyPath& path, const Json& wanted) const {
    const Kind kind = change_.kind;
    if (wanted.is_object()) {
      if (!now.is_object()) Refuse(path, "be an object");
      for (const auto& [key, member] : wanted.items()) {
        if (now.contains(key)) {
          AddMissing(now[key], Below(path, key), member);
        } else {
          now[key] = member;
        }
      }
    } else if (kind == Kind::kList || kind == Kind::kAllowedTools) {
      AddElements(now);
    } else if ((kind == Kind::kSetting || kind == Kind::kRules) && !SameValue(now, wanted)) {
      Refuse(path, "be " + wanted.dump() + ": " + std::string(change_.reason));
    }
  }

  void AddElements(Json& list) const {
    if (!list.is_array()) Refuse(change_.path, "be a list");
    for (const auto& [index, element] : list.items()) {
      const bool is_allowed =
          element.dump().starts_with("\"mcp_") || Contains(change_.value, element);
      if (change_.kind == Kind::kAllowedTools && !is_allowed) {
        FailAt(text_, Below(change_.path, index),
               "\"" + Dotted(change_.path) + "\" must not have " + element.dump() + ": " +
                   std::string(change_.reason));
      }
    }
    for (const Json& element : change_.value) {
      if (!Contains(list, element)) list.push_back(element);
    }
  }

  void MoveToEnd(Json& rules) const {
    if (rules.dump().ends_with(change_.value.dump().substr(1))) return;
    for (const auto& [key, rule] : change_.value.items()) rules.erase(key);
    rules.update(change_.value);
  }

  /// INSTANCE, options, --root DIRECTORY. Empty if the entry does not start our server.
  static Json ServeWords(const Json& entry) {
    const Json words = entry.value("args", entry.value("command", Json()));
    const auto serve = std::find(words.begin(), words.end(), "serve");
    return words.is_array() && serve != words.end()
               ? Json(std::vector<Json>(serve + 1, words.end()))
               : Json::array();
  }

  static bool HasOptions(const Json& serve_words) {
    return serve_words.size() != 3 || serve_words[1] != "--root";
  }

  /// Keeps what the user has changed in the entry. Without options of the user's, the command is
  /// ours.
  void AddCommand(Json& entry) const {
    const Json ours = ServeWords(change_.value);
    const Json theirs = ServeWords(entry);
    const bool is_same_instance = !ours.empty() && !theirs.empty() && ours[0] == theirs[0];
    const bool keeps = ours == theirs || (is_same_instance && !HasOptions(ours));
    if (HasOptions(theirs) && keeps) return;
    for (const char* key : {"command", "args", "timeout"}) {
      if (!change_.value.contains(key) || entry[key] == change_.value[key]) continue;
      if (key == std::string_view("timeout") && !HasOptions(ours)) continue;
      if (HasOptions(theirs)) {
        Refuse(Below(change_.path, key), "be " + change_.value[key].dump() +
                                             ": it starts something else, or has options of yours");
      }
      entry[key] = change_.value[key];
    }
  }

  std::string_view text_;
  const Change& change_;
};

/// Takes away what equals ours. Adds it to `lines`.
void TakeAway(const Change& change, Json& settings, std::vector<std::string>& lines) {
  const Pointer at = PointerTo(change.path);
  if (!settings.contains(at)) return;
  Json& now = settings[at];
  const auto log = [&](const Json& value) {
    lines.push_back(Dotted(change.path) + ": " + value.dump());
  };
  if (change.kind == Kind::kRules) {
    for (const auto& [key, rule] : change.value.items()) {
      TakeAway({Kind::kSetting, Below(change.path, key), rule}, settings, lines);
    }
  } else if (change.kind == Kind::kEntry ||
             (change.kind == Kind::kSetting && SameValue(now, change.value))) {
    log(now);
    EraseAt(settings, at);
  } else if (change.kind != Kind::kSetting && change.kind != Kind::kDefault && now.is_array()) {
    Json left = Json::array();
    for (const Json& element : now) {
      if (!Contains(change.value, element)) {
        left.push_back(element);
      } else {
        log(element);
      }
    }
    now = std::move(left);
  }
}

/// Takes away containers on `path` that are empty, but for those with a comment and defaults.
std::string EraseEmpty(std::string text, KeyPath path, const Json& defaults) {
  for (; !path.empty(); path.pop_back()) {
    Json settings = ParseJson(text);
    const Pointer at = PointerTo(path);
    if (!settings.contains(at)) continue;
    const Json& now = settings[at];
    const bool is_empty = now.is_structured() && now.empty();
    if (!is_empty || defaults.contains(at) || HasComment(text, path)) break;
    EraseAt(settings, at);
    text = EditJson(std::move(text), settings);
  }
  return text;
}

}  // namespace

std::string Dotted(const KeyPath& path) {
  return support::Join(path, ".");
}

Edited Add(const SettingsFile& file, const std::optional<std::string>& before, bool trusted) {
  const bool is_new = !before || IsBlank(*before);
  if (file.format == Format::kText) {
    if (is_new || *before == file.text) return {file.text};
    throw SettingsError("this file is not the one that configure writes; move it away");
  }
  std::string text = is_new ? kNoSettings : *before;
  if (!ParseJson(text).is_object()) FailAt(text, {}, "the file must be an object");
  Edited edited;
  for (const Change& change : file.changes) {
    if (!change.Applies(trusted)) continue;
    try {
      Json settings = ParseJson(text);
      Addition(text, change).AddTo(settings);
      text = EditJson(text, settings);
    } catch (const SettingsError& error) {
      edited.lines.emplace_back(error.what());
    }
  }
  edited.text = std::move(text);
  return edited;
}

Edited Remove(const SettingsFile& file, const std::optional<std::string>& before,
              bool keeps_entry) {
  if (!before || IsBlank(*before)) return {before};
  if (file.format == Format::kText) {
    return *before == file.text ? Edited{std::nullopt} : Edited{before};
  }
  Edited edited;
  std::string text = *before;
  Json defaults = Json::object();
  for (const Change& change : file.changes) {
    if (keeps_entry && change.kind == Kind::kEntry) continue;
    if (change.kind == Kind::kDefault) defaults[PointerTo(change.path)] = change.value;
    Json settings = ParseJson(text);
    const std::size_t lines = edited.lines.size();
    TakeAway(change, settings, edited.lines);
    if (edited.lines.size() > lines && change.trust.value_or(false)) edited.was_trusted = true;
    text = EraseEmpty(EditJson(std::move(text), settings), change.path, defaults);
  }
  if (edited.lines.empty()) return {before};
  const Json left = ParseJson(text);
  const bool is_empty = left.empty() || SameValue(left, defaults);
  if (!is_empty || text.find('/') != text.npos) edited.text = std::move(text);
  return edited;
}

bool HasEntry(const SettingsFile& file, const std::optional<std::string>& text) {
  if (!text || IsBlank(*text) || file.format != Format::kJson) return false;
  const Json settings = ParseJson(*text);
  return std::any_of(file.changes.begin(), file.changes.end(), [&](const Change& change) {
    return change.kind == Kind::kEntry && settings.contains(PointerTo(change.path));
  });
}

bool HasOurs(const SettingsFile& file, const std::optional<std::string>& text) {
  if (file.format == Format::kText) return text == file.text;
  if (file.format == Format::kJson) return !Remove(file, text).lines.empty();
  const std::string table = std::string("\n[mcp_servers.") + kServerName;
  const std::string lines = "\n" + text.value_or("");
  return lines.find(table + "]") != lines.npos || lines.find(table + ".") != lines.npos;
}

}  // namespace configure
