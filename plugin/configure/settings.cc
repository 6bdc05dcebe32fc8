#include "configure/settings.h"

#include <algorithm>
#include <utility>

#include "configure/json_text.h"
#include "configure/toml.h"

namespace configure {
namespace {

using Kind = Change::Kind;

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

void Require(char bracket, std::string_view text, const JsonNode& node, const KeyPath& path) {
  if (node.bracket == bracket) return;
  FailAt(text, node.begin,
         (path.empty() ? "the file" : "\"" + Dotted(path) + "\"") + " must be " +
             (bracket == '{' ? "an object" : "a list"));
}

std::string InsertAt(std::string_view text, const Found& found, const KeyPath& path, Json value) {
  const auto [node, container, depth] = found;
  Require('{', text, *node, {path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth)});
  for (std::size_t i = path.size() - 1; i > depth; --i) {
    value = Json::object({{path[i], std::move(value)}});
  }
  return InsertItem(text, *node, path[depth], value);
}

/// Adds items to the container at `path`; to a list, those that it lacks.
std::string InsertItems(std::string text, const KeyPath& path, const Json& items) {
  for (const auto& [key, item] : items.items()) {
    const JsonNode root = ParseJson(text);
    const JsonNode& container = *Find(text, root, path).node;
    if (items.is_array() && Contains(ValueOf(text, container), item)) continue;
    text = InsertItem(text, container, key, item);
  }
  return text;
}

/// Takes away what is ours in the container at `path`: items for which `is_ours` holds.
template <typename IsOurs>
std::string EraseItems(std::string text, const KeyPath& path, const IsOurs& is_ours) {
  const JsonNode old = ParseJson(text);
  for (std::size_t i = Find(text, old, path).node->items.size(); i-- > 0;) {
    const JsonNode root = ParseJson(text);
    const JsonNode& container = *Find(text, root, path).node;
    const JsonNode& item = container.items[i];
    if (is_ours(item.key, ValueOf(text, item))) text = EraseItem(text, container, item);
  }
  return text;
}

/// A value of the user's is in the way.
[[noreturn]] void Refuse(std::string_view text, std::size_t offset, const KeyPath& path,
                         const std::string& must, const Json& value, const Change& change) {
  FailAt(
      text, offset,
      "\"" + Dotted(path) + "\" " + must + " " + value.dump() + ": " + std::string(change.reason));
}

/// Adds `value`, or the members that are missing in it.
std::string AddMissing(std::string text, const KeyPath& path, const Json& value) {
  const JsonNode root = ParseJson(text);
  const Found found = Find(text, root, path);
  if (found.depth < path.size()) return InsertAt(text, found, path, value);
  if (!value.is_object()) return text;
  Require('{', text, *found.node, path);
  for (const auto& [key, member] : value.items()) text = AddMissing(text, Below(path, key), member);
  return text;
}

/// Of the entry of a server: INSTANCE, options, --root DIRECTORY. Empty if it does not start ours.
Json ServeWords(const Json& entry) {
  const Json words = entry.value("args", entry.value("command", Json()));
  const auto serve = std::find(words.begin(), words.end(), "serve");
  return words.is_array() && serve != words.end() ? Json(std::vector<Json>(serve + 1, words.end()))
                                                  : Json::array();
}

bool HasOptions(const Json& serve_words) {
  return serve_words.size() != 3 || serve_words[1] != "--root";
}

/// Keeps what the user has changed in the entry. Without options of the user's, the command is
/// ours.
std::string AddEntry(std::string text, const Change& change) {
  text = AddMissing(text, change.path, change.value);
  const JsonNode old = ParseJson(text);
  const Json entry = ValueOf(text, *Find(text, old, change.path).node);
  const Json ours = ServeWords(change.value);
  const Json theirs = ServeWords(entry);
  const bool is_same_instance = !ours.empty() && !theirs.empty() && ours[0] == theirs[0];
  const bool keeps = ours == theirs || (is_same_instance && !HasOptions(ours));
  if (HasOptions(theirs) && keeps) return text;
  for (const char* key : {"command", "args", "timeout"}) {
    if (!change.value.contains(key) || entry[key] == change.value[key]) continue;
    if (key == std::string_view("timeout") && !HasOptions(ours)) continue;
    const JsonNode root = ParseJson(text);
    const KeyPath path = Below(change.path, key);
    const JsonNode& node = *Find(text, root, path).node;
    if (HasOptions(theirs)) {
      FailAt(text, node.begin,
             "\"" + Dotted(path) + "\" must be " + change.value[key].dump() +
                 ": it starts something else, or has options of yours");
    }
    text = ReplaceValue(text, node, change.value[key]);
  }
  return text;
}

/// `node` is the object at the path of `change`.
std::string AddRules(const std::string& text, const JsonNode& node, const Change& change) {
  Require('{', text, node, change.path);
  for (const JsonNode& item : node.items) {
    const Json now = ValueOf(text, item);
    if (change.value.value(item.key, now) != now) {
      Refuse(text, item.start, Below(change.path, item.key), "must be", change.value.at(item.key),
             change);
    }
  }
  if (ValueOf(text, node).dump().ends_with(change.value.dump().substr(1))) return text;
  const auto is_ours = [&](const std::string& key, const Json&) {
    return change.value.contains(key);
  };
  return InsertItems(EraseItems(text, change.path, is_ours), change.path, change.value);
}

std::string AddElements(const std::string& text, const JsonNode& node, const Change& change) {
  Require('[', text, node, change.path);
  for (const JsonNode& item : node.items) {
    const Json element = ValueOf(text, item);
    const bool is_mcp = element.is_string() && element.get<std::string>().starts_with("mcp_");
    if (change.kind == Kind::kAllowedTools && !is_mcp && !Contains(change.value, element)) {
      Refuse(text, item.start, change.path, "must not have", element, change);
    }
  }
  return InsertItems(text, change.path, change.value);
}

std::string AddChange(const std::string& text, const Change& change) {
  if (change.kind == Kind::kEntry) return AddEntry(text, change);
  const JsonNode root = ParseJson(text);
  const Found found = Find(text, root, change.path);
  const JsonNode& node = *found.node;
  if (found.depth < change.path.size()) return InsertAt(text, found, change.path, change.value);
  if (change.kind == Kind::kDefault || SameValue(ValueOf(text, node), change.value)) return text;
  if (change.kind == Kind::kRules) return AddRules(text, node, change);
  if (change.kind != Kind::kSetting) return AddElements(text, node, change);
  Refuse(text, node.begin, change.path, "must be", change.value, change);
}

/// Takes away containers on `path` that are empty, but for those with a comment and defaults.
std::string EraseEmpty(std::string text, KeyPath path, const std::vector<Change>& changes) {
  for (; !path.empty(); path.pop_back()) {
    const JsonNode root = ParseJson(text);
    const auto [node, container, depth] = Find(text, root, path);
    if (depth < path.size()) continue;
    const std::string_view raw =
        std::string_view(text).substr(node->begin, node->end - node->begin);
    const bool is_default = std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
      return change.kind == Kind::kDefault && change.path == path;
    });
    const bool is_empty = node->bracket != '\0' && node->items.empty();
    if (!is_empty || is_default || raw.find('/') != raw.npos) return text;
    text = EraseItem(text, *container, *node);
  }
  return text;
}

std::string RemoveChange(std::string text, const Change& change, std::vector<std::string>& lines) {
  const JsonNode root = ParseJson(text);
  const auto [node, container, depth] = Find(text, root, change.path);
  if (depth < change.path.size()) return text;
  const Json now = ValueOf(text, *node);
  const auto log = [&](const KeyPath& path, const Json& value) {
    lines.push_back(Dotted(path) + ": " + value.dump());
  };
  if (change.kind == Kind::kEntry ||
      (change.kind == Kind::kSetting && SameValue(now, change.value))) {
    log(change.path, now);
    return EraseItem(text, *container, *node);
  }
  if (change.kind == Kind::kSetting || change.kind == Kind::kDefault) return text;
  return EraseItems(text, change.path, [&](const std::string& key, const Json& item) {
    const bool is_list = change.value.is_array();
    if (is_list ? !Contains(change.value, item) : change.value.value(key, Json()) != item) {
      return false;
    }
    log(is_list ? change.path : Below(change.path, key), item);
    return true;
  });
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
  Require('{', text, ParseJson(text), {});
  Edited edited;
  for (const Change& change : file.changes) {
    try {
      text = AddChange(text, change);
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
  std::string defaults = kNoSettings;
  for (const Change& change : file.changes) {
    if (keeps_entry && change.kind == Kind::kEntry) continue;
    text = RemoveChange(text, change, edited.lines);
    text = EraseEmpty(text, change.path, file.changes);
    if (change.kind == Kind::kDefault) defaults = AddChange(defaults, change);
  }
  if (edited.lines.empty()) return {before};
  const Json left = ValueOf(text, ParseJson(text));
  const bool is_empty = left.empty() || SameValue(left, Json::parse(defaults));
  if (!is_empty || text.find('/') != text.npos) edited.text = std::move(text);
  return edited;
}

bool HasEntry(const SettingsFile& file, const std::optional<std::string>& text) {
  if (!text || IsBlank(*text)) return false;
  if (file.format != Format::kJson) return false;
  const JsonNode root = ParseJson(*text);
  return std::any_of(file.changes.begin(), file.changes.end(), [&](const Change& change) {
    return change.kind == Kind::kEntry &&
           Find(*text, root, change.path).depth == change.path.size();
  });
}

bool HasOurs(const SettingsFile& file, const std::optional<std::string>& text) {
  if (file.format == Format::kToml) return text && TomlHasServer(*text);
  if (file.format == Format::kText) return text == file.text;
  return !Remove(file, text).lines.empty();
}

}  // namespace configure
