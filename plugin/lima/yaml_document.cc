#include "lima/yaml_document.h"

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lima/configuration_error.h"
#include "support/utf8.h"

namespace lima::yaml {
namespace {

constexpr std::string_view kNullTag = "tag:yaml.org,2002:null";
constexpr std::string_view kBooleanTag = "tag:yaml.org,2002:bool";
constexpr std::string_view kIntegerTag = "tag:yaml.org,2002:int";
constexpr std::string_view kStringTag = "tag:yaml.org,2002:str";

std::string AtLine(int line) {
  return " (line " + std::to_string(line) + ")";
}

/// Builds nodes from the events of yaml-cpp's parser, whose own tree hides duplicate keys and knows
/// no merge keys.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(std::string file) : file_(std::move(file)) {}

  [[nodiscard]] NodePointer root() const {
    return root_ == nullptr ? std::make_shared<const Node>() : root_;
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Finish(NewNode(Kind::kNull, "", mark), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) Fail(mark.line + 1, "an alias names nothing, or a node around it");
    Put(found->second, mark.line + 1);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool is_null = tag == kNullTag;
    // yaml-cpp's tag of a quoted or block scalar without one is "!".
    const std::shared_ptr<Node> node =
        NewNode(is_null ? Kind::kNull : Kind::kScalar, tag == "!" ? "" : tag, mark);
    node->plain = tag == "?";
    if (!is_null) node->text = value;
    Finish(node, anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(NewNode(Kind::kSequence, tag, mark), anchor);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(NewNode(Kind::kMapping, tag, mark), anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct OpenNode {
    std::shared_ptr<Node> node;
    YAML::anchor_t anchor = YAML::NullAnchor;
    std::optional<Entry> waiting = {};  // a key without its value
    std::unordered_set<std::string> keys = {};
  };

  [[noreturn]] void Fail(int line, const std::string& text) const {
    throw ConfigurationError(file_ + ": line " + std::to_string(line) + ": " + text);
  }

  /// yaml-cpp's tag of a plain scalar or a collection without one is "?".
  static std::shared_ptr<Node> NewNode(Kind kind, const std::string& tag, const YAML::Mark& mark) {
    auto node = std::make_shared<Node>();
    node->kind = kind;
    node->tag = tag == "?" ? "" : tag;
    node->line = mark.line + 1;
    return node;
  }

  void CheckDepth(int depth, int line) const {
    if (depth > kMaximumDepth) {
      Fail(line, "nested deeper than " + std::to_string(kMaximumDepth) + " levels");
    }
  }

  void Open(std::shared_ptr<Node> node, YAML::anchor_t anchor) {
    CheckDepth(static_cast<int>(open_.size()) + 1, node->line);
    node->depth = 1;
    open_.push_back({std::move(node), anchor});
  }

  void Close() {
    const OpenNode closed = std::move(open_.back());
    open_.pop_back();
    Finish(closed.node, closed.anchor);
  }

  void Finish(const NodePointer& node, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) anchors_[anchor] = node;
    Put(node, node->line);
  }

  void Put(const NodePointer& node, int line) {
    if (open_.empty()) {
      root_ = node;
      return;
    }
    OpenNode& parent = open_.back();
    parent.node->depth = std::max(parent.node->depth, node->depth + 1);
    CheckDepth(parent.node->depth, line);
    if (parent.node->kind == Kind::kSequence) {
      parent.node->items.push_back(node);
    } else if (parent.waiting.has_value()) {
      parent.waiting->value = node;
      parent.node->entries.push_back(std::move(*parent.waiting));
      parent.waiting.reset();
    } else {
      parent.waiting = KeyFrom(*node, line);
      if (!parent.keys.insert(parent.waiting->key).second) {
        Fail(line, "the key \"" + parent.waiting->key + "\" is there twice in the same mapping");
      }
    }
  }

  [[nodiscard]] Entry KeyFrom(const Node& node, int line) const {
    if (node.kind == Kind::kNull) return {"null", false, nullptr};
    if (node.kind != Kind::kScalar) Fail(line, "a key of a mapping must be a plain word");
    return {node.text, node.plain && node.text == "<<", nullptr};
  }

  std::string file_;
  NodePointer root_;
  std::vector<OpenNode> open_;
  std::unordered_map<YAML::anchor_t, NodePointer> anchors_;
};

void CheckBytes(std::string_view text, const std::string& file) {
  if (!support::IsValidUtf8(text)) throw ConfigurationError(file + ": the text is not UTF-8");
  if (text.find('\0') != std::string_view::npos) {
    throw ConfigurationError(file + ": the text contains a NUL byte");
  }
  if (text.starts_with("\xEF\xBB\xBF")) {
    throw ConfigurationError(file + ": the text starts with a byte order mark; save it without");
  }
}

bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool IsTrue(std::string_view text) {
  return IsOneOf(text, {"true", "True", "TRUE"});
}

bool IsFalse(std::string_view text) {
  return IsOneOf(text, {"false", "False", "FALSE"});
}

constexpr std::string_view kDigits = "0123456789";

/// "0", or digits that do not start with 0.
bool IsCanonicalNumber(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return false;
  return text.find_first_not_of(kDigits) == std::string_view::npos;
}

/// Errs on the side of true: the user is then asked for quotes.
bool LooksLikeNumber(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (IsOneOf(text, {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"})) return true;
  if (text.empty() || (text.front() != '.' && kDigits.find(text.front()) == kDigits.npos)) {
    return false;
  }
  return text.find_first_not_of("0123456789abcdefABCDEFxXoO_.+-") == std::string_view::npos &&
         std::count(text.begin(), text.end(), '.') <= 1;
}

}  // namespace

NodePointer Parse(std::string_view text, const std::string& file) {
  CheckBytes(text, file);
  Builder first(file);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(first)) return first.root();
    // Lima reads the first document, but the whole file must be YAML.
    int documents = 1;
    for (Builder ignored(file); parser.HandleNextDocument(ignored); ignored = Builder(file)) {
      if (++documents > kMaximumDocuments) {
        throw ConfigurationError(file +
                                 ": not valid YAML: text outside of the documents, or more "
                                 "than " +
                                 std::to_string(kMaximumDocuments) + " documents");
      }
    }
  } catch (const YAML::Exception& error) {
    const std::string line =
        error.mark.is_null() ? "" : "line " + std::to_string(error.mark.line + 1) + ": ";
    throw ConfigurationError(file + ": " + line + "not valid YAML: " + error.msg);
  }
  return first.root();
}

bool IsRewrittenByLima(const Node& node) {
  if (node.kind != Kind::kScalar || (!node.plain && node.tag.empty())) return false;
  std::string_view digits = node.text;
  if (digits.starts_with('-') && digits != "-0") digits.remove_prefix(1);
  if (IsCanonicalNumber(digits) || node.text == "true" || node.text == "false") return false;
  return IsTrue(node.text) || IsFalse(node.text) || LooksLikeNumber(node.text);
}

Mapping::Mapping(const NodePointer& node, std::string file, std::string what)
    : file_(std::move(file)), what_(std::move(what)) {
  if (node == nullptr || node->kind == Kind::kNull) return;
  if (node->kind != Kind::kMapping) {
    throw ConfigurationError(file_ + ": " + (what_.empty() ? "the file" : what_) +
                             AtLine(node->line) + ": expected a mapping (key: value)");
  }
  Add(*node);
}

void Mapping::Add(const Node& node) {
  for (const Entry& entry : node.entries) {
    if (entry.is_merge) {
      if (entry.value->kind != Kind::kMapping) {
        throw ConfigurationError(file_ + AtLine(entry.value->line) + ": \"<<\" takes one mapping");
      }
      Add(*entry.value);
    } else if (!entries_.emplace(entry.key, entry.value).second) {
      throw ConfigurationError(Where(entry.key) +
                               ": the key is set twice, here and through \"<<\"");
    }
  }
}

NodePointer Mapping::Find(std::string_view key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second->kind == Kind::kNull) return nullptr;
  return found->second;
}

std::string Mapping::NameOf(std::string_view key) const {
  return what_.empty() ? std::string(key) : what_ + "." + std::string(key);
}

std::string Mapping::Where(std::string_view key) const {
  const auto found = entries_.find(key);
  return file_ + ": " + NameOf(key) + (found == entries_.end() ? "" : AtLine(found->second->line));
}

std::optional<bool> Mapping::Boolean(std::string_view key) const {
  const NodePointer node = Find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind == Kind::kScalar && (node->plain || node->tag == kBooleanTag)) {
    if (IsTrue(node->text)) return true;
    if (IsFalse(node->text)) return false;
  }
  throw ConfigurationError(Where(key) + ": expected true or false, without quotes");
}

std::optional<std::string> Mapping::String(std::string_view key) const {
  const NodePointer node = Find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind != Kind::kScalar) {
    throw ConfigurationError(Where(key) + ": expected a text");
  }
  if (!IsOneOf(node->tag, {"", kStringTag, kIntegerTag, kBooleanTag})) {
    throw ConfigurationError(Where(key) + ": the tag " + node->tag + " is not supported");
  }
  return node->text;
}

std::optional<unsigned long> Mapping::Number(std::string_view key, unsigned long maximum) const {
  const std::optional<std::string> text = String(key);
  if (!text.has_value()) return std::nullopt;
  unsigned long number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (!IsCanonicalNumber(*text) || error != std::errc() || number > maximum) {
    throw ConfigurationError(Where(key) + ": expected a whole number from 0 to " +
                             std::to_string(maximum) + " in decimal digits");
  }
  return number;
}

std::vector<NodePointer> Mapping::Sequence(std::string_view key) const {
  const NodePointer node = Find(key);
  if (node == nullptr) return {};
  if (node->kind != Kind::kSequence) {
    throw ConfigurationError(Where(key) + ": expected a list");
  }
  return node->items;
}

Mapping Mapping::Child(std::string_view key) const {
  return {Find(key), file_, NameOf(key)};
}

}  // namespace lima::yaml
