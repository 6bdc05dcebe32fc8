#include "configure/json_settings.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "configure/json_edit.h"
#include "configure/settings_error.h"
#include "configure/text_form.h"

namespace configure {
namespace {

constexpr std::string_view kRestoreOpen = " /* ";
constexpr std::string_view kRestoreClose = " */";

/// What stands before a default that was added to members of the user's.
constexpr std::string_view kDefaultMark = ":  ";

/// What there is of a path: the containers on the way, and the value at its end.
struct Found {
  struct Step {
    const JsonNode* container;
    std::size_t index;  ///< of the item that is next on the way
  };
  std::vector<Step> steps;
  const JsonNode* last;  ///< the deepest node there is
  [[nodiscard]] bool Whole(const KeyPath& path) const { return steps.size() == path.size(); }
};

[[noreturn]] void Fail(const std::string& text, const JsonNode& node, const std::string& reason) {
  throw SettingsError(PositionAt(text, node.begin), reason);
}

void RequireKind(const std::string& text, const JsonNode& node, JsonNode::Kind kind,
                 const KeyPath& path) {
  if (node.kind == kind) return;
  Fail(text, node,
       (path.empty() ? "the file" : "\"" + Dotted(path) + "\"") + std::string(" must be ") +
           (kind == JsonNode::Kind::kObject ? "an object" : "a list"));
}

Found Find(const std::string& text, const JsonNode& root, const KeyPath& path) {
  Found found{.steps = {}, .last = &root};
  for (const std::string& key : path) {
    const auto depth = static_cast<std::ptrdiff_t>(found.steps.size());
    RequireKind(text, *found.last, JsonNode::Kind::kObject,
                KeyPath(path.begin(), path.begin() + depth));
    const JsonItem* item = FindMember(*found.last, key);
    if (item == nullptr) break;
    const auto first = std::find_if(found.last->items.begin(), found.last->items.end(),
                                    [&](const JsonItem& each) { return each.key == key; });
    // To take the last one away would let the one before it count.
    if (&*first != item) {
      throw SettingsError(PositionAt(text, item->begin),
                          "\"" + Dotted(KeyPath(path.begin(), path.begin() + depth + 1)) +
                              "\" is there more than once; leave only one of them");
    }
    found.steps.push_back({found.last, static_cast<std::size_t>(item - found.last->items.data())});
    found.last = &item->value;
  }
  return found;
}

Json WithoutNulls(const Json& value) {
  if (!value.is_object()) return value;
  Json result = Json::object();
  for (const auto& [key, member] : value.items()) {
    if (member.is_null()) continue;
    Json inner = WithoutNulls(member);
    if (!member.is_object() || !inner.empty()) result[key] = std::move(inner);
  }
  return result;
}

/// Adds what is missing of `path` with `value` at its end.
std::string InsertAt(const std::string& text, const JsonNode& root, const KeyPath& path,
                     const Found& found, Json value) {
  for (std::size_t depth = path.size() - 1; depth > found.steps.size(); --depth) {
    value = Json::object({{path[depth], std::move(value)}});
  }
  RequireKind(
      text, *found.last, JsonNode::Kind::kObject,
      KeyPath(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(found.steps.size())));
  return InsertItems(text, LayoutOf(text, root), *found.last,
                     {{path[found.steps.size()], std::move(value)}});
}

/// Empty, and without a comment that would be lost with it.
bool IsBare(const std::string& text, const JsonNode& container) {
  return container.kind != JsonNode::Kind::kScalar && container.items.empty() &&
         text.find_first_not_of(" \t\r\n", container.begin + 1) == container.end - 1;
}

/// Takes the value at `path` away, then the containers above it that this has emptied and that were
/// made for it.
std::string EraseAt(std::string text, KeyPath path) {
  for (bool first = true; !path.empty(); first = false, path.pop_back()) {
    const JsonNode root = ParseJson(text);
    const Found found = Find(text, root, path);
    if (!found.Whole(path) || (!first && !IsBare(text, *found.last))) break;
    const Found::Step& step = found.steps.back();
    const bool stays = FormerBlanks(text, *step.container).has_value();
    text = EraseItem(text, *step.container, step.index);
    if (stays) break;
  }
  return text;
}

std::string ApplyEntry(std::string text, const KeyPath& path, const Json& value) {
  const JsonNode root = ParseJson(text);
  const Found found = Find(text, root, path);
  if (!found.Whole(path)) {
    const Json wanted = WithoutNulls(value);
    return wanted.empty() ? text : InsertAt(text, root, path, found, wanted);
  }
  RequireKind(text, *found.last, JsonNode::Kind::kObject, path);
  for (const auto& [key, member] : value.items()) {
    KeyPath inner = path;
    inner.push_back(key);
    const JsonNode tree = ParseJson(text);
    const Found there = Find(text, tree, inner);
    if (member.is_object()) {
      text = ApplyEntry(std::move(text), inner, member);
    } else if (member.is_null()) {
      if (there.Whole(inner)) {
        text = EraseItem(text, *there.steps.back().container, there.steps.back().index);
      }
    } else if (!there.Whole(inner)) {
      text = InsertAt(text, tree, inner, there, member);
    } else if (ValueOf(text, *there.last) != member) {
      text = ReplaceValue(text, LayoutOf(text, tree), *there.last, member);
    }
  }
  return text;
}

/// The comment behind a value that tells what to put back: its place, and that value's text.
struct Restore {
  std::size_t begin;
  std::size_t end;
  std::string value;
};

std::optional<Restore> FindRestore(const std::string& text, const JsonNode& node) {
  const std::string open = std::string(kRestoreOpen) + std::string(kRestoreMark);
  if (!std::string_view(text).substr(node.end).starts_with(open)) return std::nullopt;
  const std::size_t begin = node.end + open.size();
  const std::size_t close = text.find(kRestoreClose, begin);
  if (close == std::string::npos) return std::nullopt;
  return Restore{node.end, close + kRestoreClose.size(), text.substr(begin, close - begin)};
}

std::string ApplySetting(std::string text, const Change& change, bool configured_before) {
  const JsonNode root = ParseJson(text);
  const Found found = Find(text, root, change.path);
  if (!found.Whole(change.path)) return InsertAt(text, root, change.path, found, change.value);
  if (FindRestore(text, *found.last)) {
    return ReplaceValue(text, LayoutOf(text, root), *found.last, change.value);
  }
  const bool same = ValueOf(text, *found.last) == change.value;
  if (same && configured_before) return text;
  const std::string before = text.substr(found.last->begin, found.last->end - found.last->begin);
  if (before.find("*/") != std::string::npos) {
    Fail(text, *found.last,
         "\"" + Dotted(change.path) + "\" must become " + change.value.dump() +
             ", and what is there cannot be kept in a comment, as it holds one itself; change it "
             "by hand");
  }
  const std::string comment =
      std::string(kRestoreOpen) + std::string(kRestoreMark) + before + std::string(kRestoreClose);
  return text.substr(0, found.last->begin) + PrintJsonInline(change.value) + comment +
         text.substr(found.last->end);
}

std::string RemoveSetting(std::string text, const Change& change) {
  const JsonNode root = ParseJson(text);
  const Found found = Find(text, root, change.path);
  if (!found.Whole(change.path) || ValueOf(text, *found.last) != change.value) return text;
  if (const auto restore = FindRestore(text, *found.last)) {
    return text.substr(0, found.last->begin) + restore->value + text.substr(restore->end);
  }
  return EraseAt(std::move(text), change.path);
}

std::string ApplyDefault(std::string text, const Change& change) {
  const JsonNode root = ParseJson(text);
  const Found found = Find(text, root, change.path);
  if (found.Whole(change.path)) return text;
  const bool among_others =
      found.steps.size() + 1 == change.path.size() && !found.last->items.empty();
  text = InsertAt(text, root, change.path, found, change.value);
  if (!among_others) return text;
  const JsonNode tree = ParseJson(text);
  return text.insert(Find(text, tree, change.path).last->begin, 1, ' ');
}

std::string RemoveDefault(std::string text, const Change& change) {
  const JsonNode root = ParseJson(text);
  const Found found = Find(text, root, change.path);
  if (!found.Whole(change.path) || ValueOf(text, *found.last) != change.value) return text;
  const bool is_alone = found.steps.back().container->items.size() == 1;
  const bool is_marked = text.substr(0, found.last->begin).ends_with(kDefaultMark);
  return is_alone || is_marked ? EraseAt(std::move(text), change.path) : text;
}

bool HoldsBlock(const std::vector<Json>& there, const Json& block) {
  return std::search(there.begin(), there.end(), block.begin(), block.end()) != there.end();
}

std::string ApplyList(std::string text, const Change& change, bool configured_before) {
  const JsonNode root = ParseJson(text);
  const Found found = Find(text, root, change.path);
  if (!found.Whole(change.path)) return InsertAt(text, root, change.path, found, change.value);
  RequireKind(text, *found.last, JsonNode::Kind::kArray, change.path);
  const std::vector<Json> there = ValueOf(text, *found.last).get<std::vector<Json>>();
  if (HoldsBlock(there, change.value)) return text;
  std::vector<NewItem> missing;
  for (const Json& element : change.value) {
    if (!configured_before || std::find(there.begin(), there.end(), element) == there.end()) {
      missing.push_back({"", element});
    }
  }
  return missing.empty() ? text : InsertItems(text, LayoutOf(text, root), *found.last, missing);
}

std::string RemoveList(std::string text, const Change& change) {
  // From behind, so that what is last each time is the one that was added last.
  for (auto element = change.value.rbegin(); element != change.value.rend(); ++element) {
    const JsonNode root = ParseJson(text);
    const Found found = Find(text, root, change.path);
    if (!found.Whole(change.path)) return text;
    RequireKind(text, *found.last, JsonNode::Kind::kArray, change.path);
    const std::vector<Json> there = ValueOf(text, *found.last).get<std::vector<Json>>();
    const auto last = std::find(there.rbegin(), there.rend(), *element);
    if (last == there.rend()) continue;
    if (there.size() == 1 && !FormerBlanks(text, *found.last)) {
      text = EraseAt(std::move(text), change.path);
    } else {
      text = EraseItem(text, *found.last,
                       static_cast<std::size_t>(std::distance(last, there.rend())) - 1);
    }
  }
  return text;
}

std::string RemoveChange(std::string text, const Change& change) {
  switch (change.kind) {
    case Change::Kind::kEntry:
      return EraseAt(std::move(text), change.path);
    case Change::Kind::kSetting:
      return RemoveSetting(std::move(text), change);
    case Change::Kind::kDefault:
      return RemoveDefault(std::move(text), change);
    case Change::Kind::kList:
      return RemoveList(std::move(text), change);
    case Change::Kind::kWholeFile:
      break;
  }
  return text;
}

std::string ApplyChange(std::string text, const Change& change, bool configured_before) {
  // Before the first time, what is there is the user's own.
  if (!change.wanted) {
    return configured_before ? RemoveChange(std::move(text), change) : std::move(text);
  }
  switch (change.kind) {
    case Change::Kind::kEntry:
      return ApplyEntry(std::move(text), change.path, change.value);
    case Change::Kind::kSetting:
      return ApplySetting(std::move(text), change, configured_before);
    case Change::Kind::kDefault:
      return ApplyDefault(std::move(text), change);
    case Change::Kind::kList:
      return ApplyList(std::move(text), change, configured_before);
    case Change::Kind::kWholeFile:
      break;
  }
  return text;
}

}  // namespace

std::string ApplyToJson(std::string text, const std::vector<Change>& changes,
                        bool configured_before) {
  RequireKind(text, ParseJson(text), JsonNode::Kind::kObject, {});
  for (const Change& change : changes) {
    text = ApplyChange(std::move(text), change, configured_before);
  }
  return text;
}

std::string RemoveFromJson(std::string text, const std::vector<Change>& changes) {
  RequireKind(text, ParseJson(text), JsonNode::Kind::kObject, {});
  // In the opposite order: what was put in last goes first, and the text is as before.
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    text = RemoveChange(std::move(text), *change);
  }
  return text;
}

bool JsonHasEntry(const std::string& text, const std::vector<Change>& changes) {
  const JsonNode root = ParseJson(text);
  RequireKind(text, root, JsonNode::Kind::kObject, {});
  return std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
    return change.kind == Change::Kind::kEntry && Find(text, root, change.path).Whole(change.path);
  });
}

std::string NewJson(const std::vector<Change>& changes) {
  const std::string text = ApplyToJson("{}", changes, /*configured_before=*/false);
  return PrintJson(ValueOf(text, ParseJson(text)), {});
}

std::optional<std::size_t> BeginOfNewJson(const std::string& text) {
  const JsonNode root = ParseJson(text);
  if (root.items.empty() || FormerBlanks(text, root)) return std::nullopt;
  return root.begin;
}

bool IsEmptyJson(const std::string& text) {
  const JsonNode root = ParseJson(text);
  return root.kind == JsonNode::Kind::kObject && IsBare(text, root) &&
         text.find_first_not_of(" \t\r\n", ByteOrderMarkSize(text)) == root.begin &&
         text.find_first_not_of(" \t\r\n", root.end) == std::string::npos;
}

}  // namespace configure
