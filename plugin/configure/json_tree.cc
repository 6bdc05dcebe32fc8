#include "configure/json_tree.h"

#include <algorithm>
#include <exception>

#include "configure/settings_error.h"
#include "configure/text_form.h"

namespace configure {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n";

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), at_(ByteOrderMarkSize(text)) {}

  JsonNode ParseDocument() {
    SkipToNext();
    JsonNode node = ParseValue(0);
    SkipToNext();
    if (at_ < text_.size()) Fail(at_, "unexpected text behind the end of the value");
    return node;
  }

 private:
  [[noreturn]] void Fail(std::size_t offset, const std::string& reason) const {
    throw SettingsError(PositionAt(text_, offset), reason);
  }

  [[nodiscard]] bool Sees(char byte) const { return at_ < text_.size() && text_[at_] == byte; }

  void SkipToNext() {
    at_ = SkipBlanks(text_, at_, text_.size());
    if (text_.substr(at_).starts_with("/*")) Fail(at_, "this comment is never closed");
  }

  JsonNode ParseValue(std::size_t depth) {
    if (depth > kMaximumJsonDepth) Fail(at_, "nested too deeply");
    if (Sees('{')) return ParseContainer(depth, JsonNode::Kind::kObject, '}');
    if (Sees('[')) return ParseContainer(depth, JsonNode::Kind::kArray, ']');
    return ParseScalar();
  }

  JsonNode ParseContainer(std::size_t depth, JsonNode::Kind kind, char close) {
    JsonNode node{.kind = kind, .begin = at_, .end = at_, .items = {}};
    ++at_;
    for (SkipToNext(); !Sees(close); SkipToNext()) {
      if (at_ >= text_.size()) {
        Fail(node.begin, std::string("this '") + text_[node.begin] + "' is never closed");
      }
      if (!node.items.empty() && !node.items.back().comma) {
        Fail(at_, std::string("expected ',' or '") + close + "'");
      }
      node.items.push_back(ParseItem(depth, kind));
      SkipToNext();
      if (Sees(',')) node.items.back().comma = at_++;
    }
    node.end = ++at_;
    return node;
  }

  JsonItem ParseItem(std::size_t depth, JsonNode::Kind kind) {
    JsonItem item;
    item.begin = at_;
    if (kind == JsonNode::Kind::kObject) {
      if (!Sees('"')) Fail(at_, "expected a key in double quotes");
      const JsonNode key = ParseScalar();
      item.key = ValueOf(text_, key).get<std::string>();
      SkipToNext();
      if (!Sees(':')) Fail(at_, "expected ':' behind the key");
      ++at_;
      SkipToNext();
    }
    item.value = ParseValue(depth + 1);
    return item;
  }

  JsonNode ParseScalar() {
    JsonNode node{.kind = JsonNode::Kind::kScalar, .begin = at_, .end = at_, .items = {}};
    const bool is_string = Sees('"');
    if (is_string) {
      PassString();
    } else {
      at_ = std::min(text_.find_first_of(" \t\r\n,:[]{}\"/", at_), text_.size());
    }
    node.end = at_;
    if (node.end == node.begin) Fail(node.begin, "expected a value");
    try {
      (void)ValueOf(text_, node);
    } catch (const std::exception&) {
      Fail(node.begin, is_string ? "this is no string" : "this is no value of JSON");
    }
    return node;
  }

  void PassString() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\n') break;
      at_ += text_[at_] == '\\' ? 2U : 1U;
    }
    if (!Sees('"')) Fail(begin, "this string is never closed");
    ++at_;
  }

  std::string_view text_;
  std::size_t at_;
};

}  // namespace

JsonNode ParseJson(std::string_view text) {
  return Parser(text).ParseDocument();
}

Json ValueOf(std::string_view text, const JsonNode& node) {
  if (node.kind == JsonNode::Kind::kScalar) {
    const std::string_view written = text.substr(node.begin, node.end - node.begin);
    return Json::parse(written);
  }
  Json value = node.kind == JsonNode::Kind::kObject ? Json::object() : Json::array();
  for (const JsonItem& item : node.items) {
    if (node.kind == JsonNode::Kind::kObject) {
      value[item.key] = ValueOf(text, item.value);
    } else {
      value.push_back(ValueOf(text, item.value));
    }
  }
  return value;
}

const JsonItem* FindMember(const JsonNode& object, std::string_view key) {
  const JsonItem* found = nullptr;
  for (const JsonItem& item : object.items) {
    if (item.key == key) found = &item;
  }
  return found;
}

std::size_t SkipBlanks(std::string_view text, std::size_t from, std::size_t to) {
  text = text.substr(0, to);
  while (true) {
    from = std::min(text.find_first_not_of(kWhiteSpace, from), text.size());
    if (text.substr(from).starts_with("//")) {
      from = std::min(text.find('\n', from), text.size());
    } else if (text.substr(from).starts_with("/*")) {
      const std::size_t close = text.find("*/", from + 2);
      if (close == std::string_view::npos) return from;
      from = close + 2;
    } else {
      return from;
    }
  }
}

}  // namespace configure
