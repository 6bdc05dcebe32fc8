#include "configure/json_settings.h"

#include <algorithm>
#include <span>
#include <utility>

#include "configure/settings_error.h"

namespace configure {
namespace {

using Kind = Change::Kind;

/// Ignores the order of members, since agents change it.
bool SameValue(const Json& left, const Json& right) {
  return nlohmann::json(left) == nlohmann::json(right);
}

void RequireKind(const std::string& text, const JsonNode& node, JsonNode::Kind kind,
                 const KeyPath& path) {
  if (node.kind == kind) return;
  FailAt(text, node.begin,
         (path.empty() ? "the file" : "\"" + Dotted(path) + "\"") + " must be " +
             (kind == JsonNode::Kind::kObject ? "an object" : "a list"));
}

KeyPath First(const KeyPath& path, std::size_t count) {
  return {path.begin(), path.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::string Add(const std::string& text, const KeyPath& path, Json value) {
  const JsonNode root = ParseJson(text);
  const Found found = Find(text, root, path);
  const std::size_t depth = found.steps.size();
  RequireKind(text, *found.last, JsonNode::Kind::kObject, First(path, depth));
  for (std::size_t i = path.size() - 1; i > depth; --i) {
    value = Json::object({{path[i], std::move(value)}});
  }
  return InsertItem(text, root, *found.last, path[depth], value);
}

std::string AddElements(std::string text, const KeyPath& path, const Json& elements) {
  for (const Json& element : elements) {
    const JsonNode root = ParseJson(text);
    text = InsertItem(text, root, *Find(text, root, path).last, "", element);
  }
  return text;
}

Json ElementsMissing(const Json& there, const Json& wanted) {
  Json missing = Json::array();
  for (const Json& element : wanted) {
    const auto same = [&](const Json& each) { return SameValue(each, element); };
    if (std::none_of(there.begin(), there.end(), same)) missing.push_back(element);
  }
  return missing;
}

std::string Apply(std::string text, const Change& change, Record& record) {
  const JsonNode root = ParseJson(text);
  const Found found = Find(text, root, change.path);
  const JsonNode& there = *found.last;
  UndoStep step{.change = change, .before = {}, .container = {}, .depth = found.steps.size()};
  if (there.kind != JsonNode::Kind::kScalar && there.items.empty()) {
    step.container = Raw(text, there);
  }
  const bool exists = step.depth == change.path.size();
  if (exists && change.kind == Kind::kDefault) return text;
  if (!exists) {
    text = Add(text, change.path, change.value);
  } else if (change.kind == Kind::kList) {
    RequireKind(text, there, JsonNode::Kind::kArray, change.path);
    step.change.value = ElementsMissing(ValueOf(text, there), change.value);
    text = AddElements(std::move(text), change.path, step.change.value);
  } else {
    step.before = Raw(text, there);
    if (!SameValue(ValueOf(text, there), change.value)) {
      text = ReplaceNode(text, root, there, change.value);
    }
  }
  record.steps.push_back(std::move(step));
  return text;
}

std::string WithoutSpace(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; });
  return text;
}

/// Erases the empty containers that were made for the step, from the one at the first `size` names
/// of its path upwards. An empty one that existed gets its old text back.
std::string UndoContainers(std::string text, const UndoStep& step, std::size_t size) {
  for (;; --size) {
    const JsonNode root = ParseJson(text);
    const Found found = Find(text, root, First(step.change.path, size));
    const bool is_made = size > step.depth;
    if (found.steps.size() < size || !found.last->items.empty()) return text;
    const std::string now = WithoutSpace(Raw(text, *found.last));
    if (!is_made) {
      if (!step.container.is_string()) return text;
      const auto before = step.container.get<std::string>();
      return now == WithoutSpace(before) ? ReplaceNode(text, *found.last, before) : text;
    }
    if (now != "{}" && now != "[]") return text;  // there is a comment in it
    text = EraseItem(text, *found.steps.back().container, found.steps.back().index);
  }
}

std::string UndoList(std::string text, const UndoStep& step) {
  const Json& elements = step.change.value;
  for (auto element = elements.rbegin(); element != elements.rend(); ++element) {
    const JsonNode root = ParseJson(text);
    const Found found = Find(text, root, step.change.path);
    const JsonNode& list = *found.last;
    if (found.steps.size() < step.change.path.size() || list.kind != JsonNode::Kind::kArray) break;
    const auto last = std::find_if(
        list.items.rbegin(), list.items.rend(),
        [&](const JsonItem& item) { return SameValue(ValueOf(text, item.value), *element); });
    if (last == list.items.rend()) continue;
    text = EraseItem(text, list, static_cast<std::size_t>(list.items.rend() - last) - 1);
  }
  return UndoContainers(std::move(text), step, step.change.path.size());
}

std::string Undo(const std::string& text, const UndoStep& step, bool is_new) {
  const Change& change = step.change;
  if (change.kind == Kind::kList) return UndoList(text, step);
  const JsonNode root = ParseJson(text);
  const Found found = Find(text, root, change.path);
  if (found.steps.size() < change.path.size()) return text;
  const Found::Step& place = found.steps.back();
  const bool is_ours =
      change.kind == Kind::kEntry || SameValue(ValueOf(text, *found.last), change.value);
  if (!is_ours) return text;
  if (step.before.is_string()) {
    return ReplaceNode(text, *found.last, step.before.get<std::string>());
  }
  // Members that the user has added to a container of ours may need the default.
  const bool is_in_ours = is_new || step.depth + 1 < change.path.size();
  if (change.kind == Kind::kDefault && is_in_ours && place.container->items.size() > 1) return text;
  return UndoContainers(EraseItem(text, *place.container, place.index), step,
                        change.path.size() - 1);
}

}  // namespace

std::string ApplyToJson(std::string text, const std::vector<Change>& changes, Record& record) {
  RequireKind(text, ParseJson(text), JsonNode::Kind::kObject, {});
  for (const Change& change : changes) text = Apply(std::move(text), change, record);
  return text;
}

std::string UndoInJson(std::string text, const Record& record) {
  RequireKind(text, ParseJson(text), JsonNode::Kind::kObject, {});
  for (auto step = record.steps.rbegin(); step != record.steps.rend(); ++step) {
    text = Undo(text, *step, record.is_new);
  }
  return text;
}

bool JsonHasEntry(const std::string& text, const std::vector<Change>& changes) {
  const JsonNode root = ParseJson(text);
  return std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
    return change.kind == Kind::kEntry &&
           Find(text, root, change.path).steps.size() == change.path.size();
  });
}

bool IsEmptyJson(const std::string& text) {
  const std::string bare = WithoutSpace(text);
  return bare.substr(ByteOrderMarkSize(bare)) == "{}";
}

}  // namespace configure
