#include "configure/settings.h"

#include <algorithm>
#include <utility>

#include "configure/json_text.h"
#include "configure/toml.h"

namespace configure {
namespace {

using Kind = Change::Kind;
using Pointer = Json::json_pointer;

constexpr const char* kNoSettings = "{\n}\n";

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n", ByteOrderMarkSize(text)) == text.npos;
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
    Json wanted = change_.value;
    for (std::size_t i = change_.path.size(); i-- > 0;) {
      wanted = Json::object({{change_.path[i], std::move(wanted)}});
    }
    AddMissing(settings, {}, wanted);
    Json& now = settings[PointerTo(change_.path)];
    if (change_.kind == Kind::kEntry) AddCommand(now);
    if (change_.kind == Kind::kRules) AddRules(now);
    if (change_.kind == Kind::kSetting) RequireValue(change_.path, now, change_.value);
    if (change_.kind == Kind::kList || change_.kind == Kind::kAllowedTools) AddElements(now);
  }

 private:
  [[noreturn]] void Refuse(const KeyPath& path, const std::string& must) const {
    FailAt(text_, path, "\"" + Dotted(path) + "\" must " + must);
  }

  void RequireValue(const KeyPath& path, const Json& now, const Json& wanted) const {
    if (SameValue(now, wanted)) return;
    Refuse(path, "be " + wanted.dump() + ": " + std::string(change_.reason));
  }

  void AddMissing(Json& now, const KeyPath& path, const Json& wanted) const {
    if (!wanted.is_object()) return;
    if (!now.is_object()) Refuse(path, "be an object");
    for (const auto& [key, member] : wanted.items()) {
      if (now.contains(key)) {
        AddMissing(now[key], Below(path, key), member);
      } else {
        now[key] = member;
      }
    }
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

  void AddRules(Json& rules) const {
    for (const auto& [key, rule] : change_.value.items()) {
      RequireValue(Below(change_.path, key), rules[key], rule);
    }
    if (rules.dump().ends_with(change_.value.dump().substr(1))) return;
    for (const auto& [key, rule] : change_.value.items()) rules.erase(key);
    rules.update(change_.value);
  }

  void AddElements(Json& list) const {
    if (!list.is_array()) Refuse(change_.path, "be a list");
    for (const auto& [index, element] : list.items()) {
      const bool is_mcp = element.is_string() && element.get<std::string>().starts_with("mcp_");
      if (change_.kind == Kind::kAllowedTools && !is_mcp && !Contains(change_.value, element)) {
        FailAt(text_, Below(change_.path, index),
               "\"" + Dotted(change_.path) + "\" must not have " + element.dump() + ": " +
                   std::string(change_.reason));
      }
    }
    for (const Json& element : change_.value) {
      if (!Contains(list, element)) list.push_back(element);
    }
  }

  std::string_view text_;
  const Change& change_;
};

/// Takes away what equals ours. Adds it to `lines`.
void TakeAway(const Change& change, Json& settings, std::vector<std::string>& lines) {
  const Pointer at = PointerTo(change.path);
  if (change.kind == Kind::kDefault || !settings.contains(at)) return;
  Json& now = settings[at];
  const auto log = [&](const KeyPath& path, const Json& value) {
    lines.push_back(Dotted(path) + ": " + value.dump());
  };
  if (change.kind == Kind::kEntry ||
      (change.kind == Kind::kSetting && SameValue(now, change.value))) {
    log(change.path, now);
    return EraseAt(settings, at);
  }
  if (change.kind == Kind::kSetting || now.type() != change.value.type()) return;
  Json left = now.is_array() ? Json::array() : Json::object();
  for (const auto& [key, item] : now.items()) {
    if (now.is_array() && !Contains(change.value, item)) {
      left.push_back(item);
    } else if (now.is_object() && change.value.value(key, Json()) != item) {
      left[key] = item;
    } else {
      log(now.is_array() ? change.path : Below(change.path, key), item);
    }
  }
  now = std::move(left);
}

/// Takes away containers on `path` that are empty, but for those with a comment and defaults.
std::string EraseEmpty(std::string text, KeyPath path, const std::vector<Change>& changes) {
  for (; !path.empty(); path.pop_back()) {
    Json settings = ParseJson(text);
    const Pointer at = PointerTo(path);
    if (!settings.contains(at)) continue;
    const bool is_default = std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
      return change.kind == Kind::kDefault && change.path == path;
    });
    const bool is_empty = settings[at].is_structured() && settings[at].empty();
    if (!is_empty || is_default || HasComment(text, path)) break;
    EraseAt(settings, at);
    text = EditJson(std::move(text), settings);
  }
  return text;
}

}  // namespace

std::string Dotted(const KeyPath& path) {
  std::string text;
  for (const std::string& name : path) text += (text.empty() ? "" : ".") + name;
  return text;
}

Edited Add(const SettingsFile& file, const std::optional<std::string>& before) {
  const bool is_new = !before || IsBlank(*before);
  if (file.format == Format::kText) {
    if (is_new || *before == file.text) return {file.text};
    throw SettingsError("this file is not the one that configure writes; move it away");
  }
  std::string text = is_new ? kNoSettings : *before;
  if (!ParseJson(text).is_object()) FailAt(text, {}, "the file must be an object");
  Edited edited;
  for (const Change& change : file.changes) {
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
    Json settings = ParseJson(text);
    TakeAway(change, settings, edited.lines);
    text = EraseEmpty(EditJson(std::move(text), settings), change.path, file.changes);
    if (change.kind == Kind::kDefault) defaults[PointerTo(change.path)] = change.value;
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
  if (file.format == Format::kToml) return text && TomlHasServer(*text);
  if (file.format == Format::kText) return text == file.text;
  return !Remove(file, text).lines.empty();
}

}  // namespace configure
