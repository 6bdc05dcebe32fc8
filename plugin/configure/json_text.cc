#include "configure/json_text.h"

#include <algorithm>

#include "configure/settings_error.h"
#include "support/utf8.h"

namespace configure {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::size_t kMaximumDepth = 100;

std::size_t SkipSpaceAndComments(std::string_view text, std::size_t from) {
  while (true) {
    from = std::min(text.find_first_not_of(kSpace, from), text.size());
    const std::string_view rest = text.substr(from);
    if (rest.starts_with("//")) {
      from = std::min(text.find('\n', from), text.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t close = rest.find("*/", 2);
      if (close == std::string_view::npos) return from;
      from += close + 2;
    } else {
      return from;
    }
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), at_(ByteOrderMarkSize(text)) {}

  JsonNode ParseDocument() {
    Skip();
    JsonNode node = ParseValue(0);
    Skip();
    if (at_ < text_.size()) Fail(at_, "unexpected text after the end of the value");
    return node;
  }

 private:
  [[noreturn]] void Fail(std::size_t offset, const std::string& reason) const {
    FailAt(text_, offset, reason);
  }

  [[nodiscard]] bool Sees(char byte) const { return at_ < text_.size() && text_[at_] == byte; }

  void Skip() {
    at_ = SkipSpaceAndComments(text_, at_);
    if (text_.substr(at_).starts_with("/*")) Fail(at_, "this comment is never closed");
  }

  JsonNode ParseValue(std::size_t depth) {
    if (depth > kMaximumDepth) Fail(at_, "nested too deeply");
    if (Sees('{')) return ParseContainer(depth, JsonNode::Kind::kObject, '}');
    if (Sees('[')) return ParseContainer(depth, JsonNode::Kind::kArray, ']');
    return ParseScalar();
  }

  JsonNode ParseContainer(std::size_t depth, JsonNode::Kind kind, char close) {
    JsonNode node;
    node.kind = kind;
    node.begin = at_++;
    for (Skip(); !Sees(close); Skip()) {
      if (at_ >= text_.size()) {
        Fail(node.begin, std::string("this '") + text_[node.begin] + "' is never closed");
      }
      if (!node.items.empty() && !node.items.back().comma) {
        Fail(at_, std::string("expected ',' or '") + close + "'");
      }
      node.items.push_back(ParseItem(depth, kind));
      Skip();
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
      item.key = ValueOf(text_, ParseScalar()).get<std::string>();
      Skip();
      if (!Sees(':')) Fail(at_, "expected ':' after the key");
      ++at_;
      Skip();
    }
    item.value = ParseValue(depth + 1);
    return item;
  }

  JsonNode ParseScalar() {
    JsonNode node;
    node.begin = at_;
    const bool is_string = Sees('"');
    if (is_string) {
      SkipString();
    } else {
      at_ = std::min(text_.find_first_of(" \t\r\n,:[]{}\"/", at_), text_.size());
    }
    node.end = at_;
    if (node.end == node.begin) Fail(node.begin, "expected a value");
    if (!is_string && !Json::accept(Raw(text_, node))) Fail(node.begin, "not a JSON value");
    return node;
  }

  void SkipString() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
      at_ += text_[at_] == '\\' ? 2U : 1U;
    }
    if (!Sees('"')) Fail(begin, "this string is never closed");
    ++at_;
  }

  std::string_view text_;
  std::size_t at_;
};

std::size_t LineStart(std::string_view text, std::size_t at) {
  const std::size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  return newline == std::string_view::npos ? ByteOrderMarkSize(text) : newline + 1;
}

/// The indentation of the line of `at`.
std::string IndentAt(std::string_view text, std::size_t at) {
  const std::size_t start = LineStart(text, at);
  const std::size_t end = std::min(text.find_first_not_of(" \t", start), at);
  return std::string(text.substr(start, end - start));
}

bool StartsItsLine(std::string_view text, std::size_t at) {
  return LineStart(text, at) + IndentAt(text, at).size() == at;
}

std::string Splice(std::string_view text, std::size_t from, std::size_t to, std::string_view with) {
  return std::string(text.substr(0, from)).append(with).append(text.substr(to));
}

/// One step of indentation: that of the first member of the file.
std::string IndentUnit(std::string_view text, const JsonNode& root) {
  const std::string first = root.items.empty() || !StartsItsLine(text, root.items.front().begin)
                                ? ""
                                : IndentAt(text, root.items.front().begin);
  return first.empty() ? "  " : first;
}

/// A value over several lines, with `line_break` between them.
std::string Print(const Json& value, const std::string& unit, const std::string& line_break) {
  const int width = static_cast<int>(unit.size());
  std::string printed;
  for (const char c : value.dump(width, unit.front())) {
    if (c == '\n') {
      printed += line_break;
    } else {
      printed += c;
    }
  }
  return printed;
}

/// The end of the comments that follow `from` on its line.
std::size_t EndOfLineComments(std::string_view text, std::size_t from) {
  const std::size_t newline = std::min(text.find('\n', from), text.size());
  const std::string_view line = text.substr(0, newline);
  const std::size_t end = SkipSpaceAndComments(line, from);
  const std::size_t last = line.find_last_not_of(kSpace, end - 1);
  return std::max(from, last + 1);
}

}  // namespace

std::string Dotted(const KeyPath& path) {
  std::string text;
  for (const std::string& name : path) text += (text.empty() ? "" : ".") + name;
  return text;
}

JsonNode ParseJson(std::string_view text) {
  const std::size_t valid = support::ValidUtf8Prefix(text);
  if (valid < text.size()) FailAt(text, valid, "this byte is not UTF-8");
  return Parser(text).ParseDocument();
}

std::string Raw(std::string_view text, const JsonNode& node) {
  return std::string(text.substr(node.begin, node.end - node.begin));
}

Json ValueOf(std::string_view text, const JsonNode& node) {
  if (node.kind == JsonNode::Kind::kScalar) {
    // JavaScript writes half a surrogate pair when it has cut a text. nlohmann rejects that.
    const std::string raw = Raw(text, node);
    const Json value = Json::parse(raw, nullptr, false);
    return value.is_discarded() ? Json(raw) : value;
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

Found Find(std::string_view text, const JsonNode& root, const KeyPath& path) {
  Found found{.steps = {}, .last = &root};
  for (const std::string& key : path) {
    const std::vector<JsonItem>& items = found.last->items;
    const auto named = [&](const JsonItem& item) { return item.key == key; };
    const auto item = std::find_if(items.begin(), items.end(), named);
    if (found.last->kind != JsonNode::Kind::kObject || item == items.end()) break;
    if (const auto second = std::find_if(item + 1, items.end(), named); second != items.end()) {
      FailAt(text, second->begin,
             "\"" + key + "\" is there more than once; leave only one of them");
    }
    found.steps.push_back({found.last, static_cast<std::size_t>(item - items.begin())});
    found.last = &item->value;
  }
  return found;
}

std::string InsertItem(std::string_view text, const JsonNode& root, const JsonNode& container,
                       const std::string& key, const Json& value) {
  const std::string line_end = LineEndOf(text);
  const std::string unit = IndentUnit(text, root);
  const std::string outer = IndentAt(text, container.begin);
  const std::string label =
      container.kind == JsonNode::Kind::kObject ? Json(key).dump() + ": " : "";
  const auto on_its_line = [&](const std::string& indent) {
    return line_end + indent + label + Print(value, unit, line_end + indent);
  };
  if (container.items.empty()) {
    const std::size_t close = container.end - 1;
    const std::size_t comments = text.find_last_not_of(kSpace, close - 1) + 1;
    return Splice(text, comments, close, on_its_line(outer + unit) + line_end + outer);
  }
  const JsonItem& last = container.items.back();
  const std::size_t end = last.value.end;
  const std::size_t tail = EndOfLineComments(text, last.comma ? *last.comma + 1 : end);
  const bool is_spread = Raw(text, container).find('\n') != std::string::npos;
  const std::string item = !is_spread ? " " + label + value.dump()
                           : StartsItsLine(text, last.begin)
                               ? on_its_line(IndentAt(text, last.begin))
                               : on_its_line(outer + unit);
  if (last.comma) return Splice(text, tail, tail, item + ",");
  return Splice(Splice(text, tail, tail, item), end, end, ",");
}

std::string EraseItem(std::string_view text, const JsonNode& container, std::size_t index) {
  const JsonItem& item = container.items[index];
  const JsonItem* previous = index > 0 ? &container.items[index - 1] : nullptr;
  const bool is_last = index + 1 == container.items.size();
  std::size_t begin = item.begin;
  std::size_t end = item.comma ? *item.comma + 1 : item.value.end;
  if (previous == nullptr && !is_last) {
    end = text.find_first_not_of(kSpace, end);
  } else {
    // After a line comment, the line break stays unless another one follows.
    const std::size_t gap = previous != nullptr ? *previous->comma : container.begin;
    const bool is_commented = text.substr(gap, begin - gap).find("//") != std::string_view::npos;
    const std::size_t next = text.find_first_not_of(" \t\r", end);
    if (!is_commented || text.substr(next).starts_with('\n')) {
      begin = text.find_last_not_of(kSpace, begin - 1) + 1;
    }
  }
  std::string result = Splice(text, begin, end, "");
  if (previous != nullptr && is_last && !item.comma) result.erase(*previous->comma, 1);
  return result;
}

std::string ReplaceNode(std::string_view text, const JsonNode& root, const JsonNode& node,
                        const Json& value) {
  const std::string line_break = LineEndOf(text) + IndentAt(text, node.begin);
  return ReplaceNode(text, node, Print(value, IndentUnit(text, root), line_break));
}

std::string ReplaceNode(std::string_view text, const JsonNode& node, std::string_view raw) {
  return Splice(text, node.begin, node.end, raw);
}

}  // namespace configure
