#include <algorithm>
#include <charconv>

#include "lima/configuration_error.h"
#include "lima/yaml_document.h"

namespace lima::yaml {
namespace {

constexpr std::string_view kBooleanTag = "tag:yaml.org,2002:bool";
constexpr std::string_view kIntegerTag = "tag:yaml.org,2002:int";
constexpr std::string_view kStringTag = "tag:yaml.org,2002:str";

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool IsTrue(std::string_view text) {
  return IsOneOf(text, {"true", "True", "TRUE"});
}
bool IsFalse(std::string_view text) {
  return IsOneOf(text, {"false", "False", "FALSE"});
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// "0" or digits that start with another one.
bool IsCanonicalNumber(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return false;
  return std::all_of(text.begin(), text.end(), IsDigit);
}

// Whether a reader might see a number in it. Generous: a text taken for a number by mistake is
// only asked to be quoted.
bool LooksLikeNumber(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (IsOneOf(text, {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"})) return true;
  if (text.empty() || !(IsDigit(text.front()) || text.front() == '.')) return false;
  return text.find_first_not_of("0123456789abcdefABCDEFxXoO_.+-") == std::string_view::npos &&
         std::count(text.begin(), text.end(), '.') <= 1;
}

std::string_view Describe(const Node& node) {
  switch (node.kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kScalar:
      return "a single value";
    case Kind::kSequence:
      return "a list";
    case Kind::kMapping:
      return "a mapping";
  }
  return "something else";
}

}  // namespace

bool IsRewrittenByLima(const Node& node) {
  if (node.kind != Kind::kScalar) return false;
  if (!node.plain && node.tag.empty()) return false;
  std::string_view digits = node.text;
  if (digits.starts_with('-') && digits != "-0") digits.remove_prefix(1);
  if (IsCanonicalNumber(digits) || node.text == "true" || node.text == "false") return false;
  return IsTrue(node.text) || IsFalse(node.text) || LooksLikeNumber(node.text);
}

Mapping::Mapping(const NodePointer& node, std::string file, std::string what)
    : file_(std::move(file)), what_(std::move(what)) {
  if (node == nullptr || node->kind == Kind::kNull) return;
  if (node->kind != Kind::kMapping) {
    throw ConfigurationError(file_ + ": " + (what_.empty() ? "the file" : what_) + " (line " +
                             std::to_string(node->line) +
                             "): a mapping (key: value) is wanted, not " +
                             std::string(Describe(*node)));
  }
  Add(*node, 0);
}

void Mapping::Add(const Node& node, int merge_depth) {
  if (merge_depth > kMaximumMergeDepth) {
    throw ConfigurationError(file_ + ": line " + std::to_string(node.line) +
                             ": \"<<\" goes through more than " +
                             std::to_string(kMaximumMergeDepth) + " others");
  }
  for (const Entry& entry : node.entries) {
    if (entry.is_merge) {
      if (entry.value->kind != Kind::kMapping) {
        throw ConfigurationError(file_ + ": line " + std::to_string(entry.value->line) +
                                 ": \"<<\" takes one mapping, not " +
                                 std::string(Describe(*entry.value)));
      }
      Add(*entry.value, merge_depth + 1);
    } else if (!entries_.emplace(entry.key, entry.value).second) {
      throw ConfigurationError(
          Where(entry.key) + ": the key is set twice, here and through \"<<\"; Lima refuses that");
    } else if (entries_.size() > kMaximumKeys) {
      throw ConfigurationError(file_ + ": line " + std::to_string(node.line) + ": more than " +
                               std::to_string(kMaximumKeys) + " keys in one mapping");
    }
  }
}

NodePointer Mapping::Find(std::string_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : found->second;
}

std::string Mapping::NameOf(std::string_view key) const {
  return what_.empty() ? std::string(key) : what_ + "." + std::string(key);
}

std::string Mapping::Where(std::string_view key) const {
  const NodePointer node = Find(key);
  const std::string where = file_ + ": " + NameOf(key);
  return node == nullptr ? where : where + " (line " + std::to_string(node->line) + ")";
}

std::optional<bool> Mapping::Boolean(std::string_view key) const {
  const NodePointer node = Find(key);
  if (node == nullptr || node->kind == Kind::kNull) return std::nullopt;
  const bool is_boolean = node->kind == Kind::kScalar && (node->plain || node->tag == kBooleanTag);
  if (is_boolean && IsTrue(node->text)) return true;
  if (is_boolean && IsFalse(node->text)) return false;
  throw ConfigurationError(Where(key) + ": true or false is wanted, without quotes");
}

std::optional<std::string> Mapping::String(std::string_view key) const {
  const NodePointer node = Find(key);
  if (node == nullptr || node->kind == Kind::kNull) return std::nullopt;
  if (node->kind != Kind::kScalar) {
    throw ConfigurationError(Where(key) + ": a text is wanted, not " +
                             std::string(Describe(*node)));
  }
  if (!IsOneOf(node->tag, {"", kStringTag, kIntegerTag, kBooleanTag})) {
    throw ConfigurationError(Where(key) + ": the tag " + node->tag + " is not supported here");
  }
  return node->text;
}

std::optional<unsigned long> Mapping::Number(std::string_view key, unsigned long maximum) const {
  const std::optional<std::string> text = String(key);
  if (!text.has_value()) return std::nullopt;
  unsigned long number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  const bool whole = error == std::errc() && end == text->data() + text->size();
  if (!IsCanonicalNumber(*text) || !whole || number > maximum) {
    throw ConfigurationError(Where(key) + ": a whole number from 0 to " + std::to_string(maximum) +
                             " in decimal digits is wanted");
  }
  return number;
}

NodePointer Mapping::Sequence(std::string_view key) const {
  NodePointer node = Find(key);
  if (node == nullptr || node->kind == Kind::kNull) return nullptr;
  if (node->kind != Kind::kSequence) {
    throw ConfigurationError(Where(key) + ": a list is wanted, not " +
                             std::string(Describe(*node)));
  }
  return node;
}

Mapping Mapping::Child(std::string_view key) const {
  return {Find(key), file_, NameOf(key)};
}

}  // namespace lima::yaml
