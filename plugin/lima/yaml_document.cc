#include "lima/yaml_document.h"

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lima/configuration_error.h"
#include "support/utf8.h"

namespace lima::yaml {
namespace {

constexpr std::string_view kNullTag = "tag:yaml.org,2002:null";

// Builds nodes from the events of yaml-cpp's parser. Its own tree is not used: it hides duplicate
// keys and knows no merge keys.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(std::string file) : file_(std::move(file)) {}

  [[nodiscard]] NodePointer root() const {
    return root_ == nullptr ? std::make_shared<const Node>() : root_;
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Finish(NewNode(Kind::kNull, "", mark, anchor));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) Fail(mark, "an alias names nothing, or what it stands in itself");
    Put(found->second, mark);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    // yaml-cpp: "?" is a plain scalar without a tag, "!" a quoted or block one.
    const bool is_null = tag == kNullTag;
    std::shared_ptr<Node> node = NewNode(is_null ? Kind::kNull : Kind::kScalar,
                                         tag == "?" || tag == "!" ? "" : tag, mark, anchor);
    node->plain = tag == "?";
    if (!is_null) node->text = value;
    Finish(node);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(NewNode(Kind::kSequence, tag == "?" ? "" : tag, mark, anchor), mark, anchor);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(NewNode(Kind::kMapping, tag == "?" ? "" : tag, mark, anchor), mark, anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  // A collection whose end has not come yet.
  struct OpenNode {
    std::shared_ptr<Node> node;
    YAML::anchor_t anchor = YAML::NullAnchor;
    std::optional<Entry> waiting;  // a key whose value has not come yet
    std::unordered_set<std::string> keys = {};
  };

  [[noreturn]] void Fail(const YAML::Mark& mark, const std::string& text) const {
    throw ConfigurationError(file_ + ": line " + std::to_string(mark.line + 1) + ": " + text);
  }

  static std::shared_ptr<Node> MakeNode(Kind kind, const std::string& tag, const YAML::Mark& mark) {
    auto node = std::make_shared<Node>();
    node->kind = kind;
    node->tag = tag;
    node->line = mark.line + 1;
    return node;
  }

  std::shared_ptr<Node> NewNode(Kind kind, const std::string& tag, const YAML::Mark& mark,
                                YAML::anchor_t anchor) {
    std::shared_ptr<Node> node = MakeNode(kind, tag, mark);
    const bool complete = kind == Kind::kNull || kind == Kind::kScalar;
    if (complete && anchor != YAML::NullAnchor) anchors_[anchor] = node;
    mark_ = mark;
    return node;
  }

  void Open(std::shared_ptr<Node> node, const YAML::Mark& mark, YAML::anchor_t anchor) {
    CheckDepth(static_cast<int>(open_.size()) + 1, mark);
    node->depth = 1;
    open_.push_back({std::move(node), anchor, std::nullopt});
  }

  void CheckDepth(int depth, const YAML::Mark& mark) const {
    if (depth > kMaximumDepth) {
      Fail(mark, "nested deeper than " + std::to_string(kMaximumDepth) + " levels");
    }
  }

  void Close() {
    OpenNode closed = std::move(open_.back());
    open_.pop_back();
    if (closed.anchor != YAML::NullAnchor) anchors_[closed.anchor] = closed.node;
    Finish(closed.node);
  }

  void Finish(const NodePointer& node) { Put(node, mark_); }

  // Hands a complete node to the collection around it.
  void Put(const NodePointer& node, const YAML::Mark& mark) {
    if (open_.empty()) {
      root_ = node;
      return;
    }
    OpenNode& parent = open_.back();
    parent.node->depth = std::max(parent.node->depth, node->depth + 1);
    CheckDepth(parent.node->depth, mark);
    if (parent.node->kind == Kind::kSequence) {
      parent.node->items.push_back(node);
    } else if (parent.waiting.has_value()) {
      parent.waiting->value = node;
      parent.node->entries.push_back(std::move(*parent.waiting));
      parent.waiting.reset();
    } else {
      parent.waiting = KeyFrom(*node, mark);
      if (!parent.keys.insert(parent.waiting->key).second) {
        Fail(mark, "the key \"" + parent.waiting->key + "\" is there twice in the same mapping");
      }
    }
  }

  [[nodiscard]] Entry KeyFrom(const Node& node, const YAML::Mark& mark) const {
    if (node.kind == Kind::kNull) return {"null", false, nullptr};
    if (node.kind != Kind::kScalar) Fail(mark, "a key of a mapping must be a plain word");
    return {node.text, node.plain && node.text == "<<", nullptr};
  }

  std::string file_;
  NodePointer root_;
  std::vector<OpenNode> open_;
  std::unordered_map<YAML::anchor_t, NodePointer> anchors_;
  YAML::Mark mark_;
};

void CheckBytes(std::string_view text, const std::string& file) {
  if (!support::IsValidUtf8(text)) throw ConfigurationError(file + ": the text is not UTF-8");
  if (text.find('\0') != std::string_view::npos) {
    throw ConfigurationError(file + ": the text contains a NUL byte");
  }
  if (text.starts_with("\xEF\xBB\xBF")) {
    throw ConfigurationError(
        file +
        ": the text starts with a byte order mark, which Lima takes for a part "
        "of the first key; save it without one");
  }
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
                                 ": not valid YAML: there is text outside of the documents, "
                                 "or there are more than " +
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

}  // namespace lima::yaml
