#include "configure/json_settings.h"

#include <algorithm>
#include <utility>

#include "configure/json_text.h"

namespace configure {
namespace {

using Kind = Change::Kind;

bool SameValue(const Json& left, const Json& right) {
  return nlohmann::json(left) == nlohmann::json(right);
}

void Require(char bracket, const std::string& text, const JsonNode& node, const KeyPath& path) {
  if (node.bracket == bracket) return;
  FailAt(text, node.begin,
         (path.empty() ? "the file" : "\"" + Dotted(path) + "\"") + " must be " +
             (bracket == '{' ? "an object" : "a list"));
}

JsonNode ParseObject(const std::string& text) {
  JsonNode root = ParseJson(text);
  Require('{', text, root, {});
  return root;
}

/// The elements of `list` that `other` lacks.
Json ElementsMissing(const Json& list, const Json& other) {
  Json missing = Json::array();
  for (const Json& element : list) {
    const auto same = [&](const Json& each) { return SameValue(each, element); };
    if (std::none_of(other.begin(), other.end(), same)) missing.push_back(element);
  }
  return missing;
}

std::string Apply(std::string text, const Change& change) {
  const KeyPath& path = change.path;
  const JsonNode root = ParseObject(text);
  const auto [node, container, depth] = Find(text, root, path);
  if (depth < path.size()) {
    Require('{', text, *node, {path.begin(), path.begin() + static_cast<std::ptrdiff_t>(depth)});
    Json value = change.value;
    for (std::size_t i = path.size() - 1; i > depth; --i) {
      value = Json::object({{path[i], std::move(value)}});
    }
    return InsertItem(text, *node, path[depth], value);
  }
  if (change.kind == Kind::kDefault) return text;
  if (change.kind == Kind::kLast) {
    FailAt(text, node->begin,
           "\"" + Dotted(path) + "\" must come last, where configure adds it; remove this one");
  }
  const Json now = ValueOf(text, *node);
  if (change.kind != Kind::kList) {
    return SameValue(now, change.value) ? text : ReplaceValue(text, *node, change.value);
  }
  Require('[', text, *node, path);
  for (const Json& element : ElementsMissing(change.value, now)) {
    const JsonNode changed = ParseJson(text);
    text = InsertItem(text, *Find(text, changed, path).node, "", element);
  }
  return text;
}

/// Removes the members that are the same in both objects.
void KeepDifference(Json& before, Json& written) {
  for (auto member = written.begin(); member != written.end();) {
    const auto old = before.find(member.key());
    if (old != before.end() && SameValue(*old, *member)) {
      before.erase(old);
      member = written.erase(member);
      continue;
    }
    if (old != before.end() && old->is_object() && member->is_object()) {
      KeepDifference(*old, *member);
    }
    ++member;
  }
}

std::string UndoList(std::string text, const KeyPath& path, const Json& added) {
  for (auto element = added.rbegin(); element != added.rend(); ++element) {
    const JsonNode root = ParseJson(text);
    const JsonNode& list = *Find(text, root, path).node;
    const auto ours = std::find_if(
        list.items.rbegin(), list.items.rend(),
        [&](const JsonNode& item) { return SameValue(ValueOf(text, item), *element); });
    if (ours != list.items.rend()) text = EraseItem(text, list, *ours);
  }
  return text;
}

/// Keeps a container with a comment.
std::string EraseIfEmpty(std::string text, const KeyPath& path) {
  const JsonNode root = ParseJson(text);
  const auto [node, container, depth] = Find(text, root, path);
  const std::string_view raw = std::string_view(text).substr(node->begin, node->end - node->begin);
  const bool is_empty = node->bracket != '\0' && node->items.empty() && raw.find('/') == raw.npos;
  return is_empty ? EraseItem(text, *container, *node) : text;
}

/// Undoes in the object at `path` what made `written` of `before`. What the user has changed since
/// stays.
std::string UndoMembers(std::string text, const KeyPath& path, const Json& before,
                        const Json& written) {
  for (const auto& [key, ours] : written.items()) {
    KeyPath inner = path;
    inner.push_back(key);
    const JsonNode root = ParseObject(text);
    const auto [node, container, depth] = Find(text, root, inner);
    const Json old = before.value(key, Json());
    if (depth < inner.size() || SameValue(old, ours)) continue;
    const Json now = ValueOf(text, *node);
    const bool is_merged = old.is_structured() && old.type() == ours.type();
    if (key == kServerName || (!is_merged && SameValue(now, ours))) {
      text = before.contains(key) ? ReplaceValue(text, *node, old)
                                  : EraseItem(text, *container, *node);
      continue;
    }
    if (now.is_array() && ours.is_array()) {
      text = UndoList(std::move(text), inner, ElementsMissing(ours, old));
    } else if (now.is_object() && ours.is_object()) {
      text = UndoMembers(std::move(text), inner, old.is_object() ? old : Json::object(), ours);
    }
    if (!before.contains(key)) text = EraseIfEmpty(text, inner);
  }
  return text;
}

}  // namespace

std::string ApplyToJson(std::string text, const std::vector<Change>& changes, Record& record) {
  // Those of a new file stay while the user has something in it.
  const auto is_base = [&](const Change& c) { return record.is_new && c.kind == Kind::kDefault; };
  for (const Change& change : changes) {
    if (is_base(change)) text = Apply(std::move(text), change);
  }
  record.before = ValueOf(text, ParseObject(text));
  for (const Change& change : changes) text = Apply(std::move(text), change);
  record.written = ValueOf(text, ParseJson(text));
  if (!record.is_new) KeepDifference(record.before, record.written);
  return text;
}

std::string UndoInJson(std::string text, const Record& record) {
  return UndoMembers(std::move(text), {}, record.before, record.written);
}

bool JsonHasEntry(const std::string& text, const std::vector<Change>& changes) {
  const JsonNode root = ParseJson(text);
  return std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
    return change.kind == Kind::kEntry && Find(text, root, change.path).depth == change.path.size();
  });
}

bool JsonHasValue(const std::string& text, const Json& value) {
  return SameValue(ValueOf(text, ParseJson(text)), value);
}

}  // namespace configure
