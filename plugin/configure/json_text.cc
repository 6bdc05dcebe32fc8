#include "configure/json_text.h"

#include <algorithm>

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

/// The value of a scalar's text.
Json ScalarOf(std::string_view text) {
  // JavaScript writes half a surrogate pair when it has cut a text. nlohmann rejects that.
  const Json value = Json::parse(text, nullptr, false);
  return value.is_discarded() ? Json(text) : value;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), at_(ByteOrderMarkSize(text)) {}

  JsonNode ParseDocument() {
    JsonNode root;
    Skip();
    ParseValue(root, 0);
    Skip();
    if (at_ < text_.size()) Fail(at_, "unexpected text after the end of the value");
    return root;
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

  void ParseValue(JsonNode& node, std::size_t depth) {
    if (depth > kMaximumDepth) Fail(at_, "nested too deeply");
    node.begin = at_;
    if (Sees('{') || Sees('[')) {
      node.bracket = text_[at_++];
      ParseItems(node, depth);
    } else {
      SkipScalar();
    }
    node.end = at_;
  }

  void ParseItems(JsonNode& node, std::size_t depth) {
    const std::string close = node.bracket == '{' ? "}" : "]";
    for (Skip(); !Sees(close[0]); Skip()) {
      if (at_ >= text_.size()) Fail(node.begin, "this bracket is never closed");
      if (!node.items.empty() && !node.items.back().comma)
        Fail(at_, "expected ',' or '" + close + "'");
      JsonNode& item = node.items.emplace_back();
      item.start = at_;
      if (node.bracket == '{') ParseKey(item);
      ParseValue(item, depth + 1);
      Skip();
      if (Sees(',')) item.comma = at_++;
    }
    ++at_;
  }

  void ParseKey(JsonNode& item) {
    if (!Sees('"')) Fail(at_, "expected a key in double quotes");
    SkipScalar();
    item.key = ScalarOf(text_.substr(item.start, at_ - item.start)).get<std::string>();
    Skip();
    if (!Sees(':')) Fail(at_, "expected ':' after the key");
    ++at_;
    Skip();
  }

  void SkipScalar() {
    const std::size_t begin = at_;
    if (Sees('"')) {
      for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_) {
        if (text_[at_] == '\\') ++at_;
      }
      if (!Sees('"')) Fail(begin, "this string is never closed");
      ++at_;
      return;
    }
    at_ = std::min(text_.find_first_of(" \t\r\n,:[]{}\"/", at_), text_.size());
    if (at_ == begin) Fail(begin, "expected a value");
    if (!Json::accept(text_.substr(begin, at_ - begin))) Fail(begin, "not a JSON value");
  }

  std::string_view text_;
  std::size_t at_;
};

/// The indentation of the line of `at`.
std::string IndentAt(std::string_view text, std::size_t at) {
  const std::size_t newline = text.substr(0, at).rfind('\n');
  const std::size_t start =
      newline == std::string_view::npos ? ByteOrderMarkSize(text) : newline + 1;
  const std::size_t end = std::min(text.find_first_not_of(" \t", start), at);
  return std::string(text.substr(start, end - start));
}

bool StartsItsLine(std::string_view text, std::size_t at) {
  const std::size_t indent = IndentAt(text, at).size();
  return at > indent && text[at - indent - 1] == '\n';
}

std::string Splice(std::string_view text, std::size_t from, std::size_t to, std::string_view with) {
  return std::string(text.substr(0, from)).append(with).append(text.substr(to));
}

/// A value over several lines, of which all but the first are indented.
std::string Print(const Json& value, const std::string& indent) {
  std::string printed;
  for (const char c : value.dump(2)) {
    printed += c;
    if (c == '\n') printed += indent;
  }
  return printed;
}

/// The end of the comments that follow `from` on its line.
std::size_t EndOfLineComments(std::string_view text, std::size_t from) {
  const std::string_view line = text.substr(0, text.find('\n', from));
  return line.find_last_not_of(kSpace, SkipSpaceAndComments(line, from) - 1) + 1;
}

}  // namespace

std::size_t ByteOrderMarkSize(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? kMark.size() : 0;
}

void FailAt(std::string_view text, std::size_t offset, const std::string& reason) {
  const std::size_t mark = std::min(ByteOrderMarkSize(text), offset);
  const std::string_view before = text.substr(mark, offset - mark);
  const std::string_view line = before.substr(before.rfind('\n') + 1);
  const auto is_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  throw SettingsError(
      static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1,
      static_cast<std::size_t>(std::count_if(line.begin(), line.end(), is_character)) + 1, reason);
}

JsonNode ParseJson(std::string_view text) {
  const std::size_t valid = support::ValidUtf8Prefix(text);
  if (valid < text.size()) FailAt(text, valid, "this byte is not UTF-8");
  return Parser(text).ParseDocument();
}

Json ValueOf(std::string_view text, const JsonNode& node) {
  if (node.bracket == '\0') return ScalarOf(text.substr(node.begin, node.end - node.begin));
  Json value = node.bracket == '{' ? Json::object() : Json::array();
  for (const JsonNode& item : node.items) {
    if (node.bracket == '{') {
      value[item.key] = ValueOf(text, item);
    } else {
      value.push_back(ValueOf(text, item));
    }
  }
  return value;
}

Found Find(std::string_view text, const JsonNode& root, const KeyPath& path) {
  Found found{.node = &root, .container = nullptr, .depth = 0};
  for (const std::string& key : path) {
    const std::vector<JsonNode>& items = found.node->items;
    const auto named = [&](const JsonNode& item) { return item.key == key; };
    const auto item = std::find_if(items.begin(), items.end(), named);
    if (found.node->bracket != '{' || item == items.end()) break;
    if (const auto second = std::find_if(item + 1, items.end(), named); second != items.end()) {
      FailAt(text, second->start,
             "\"" + key + "\" is there more than once; leave only one of them");
    }
    found = {.node = &*item, .container = found.node, .depth = found.depth + 1};
  }
  return found;
}

std::string InsertItem(std::string_view text, const JsonNode& container, const std::string& key,
                       const Json& value) {
  const std::string label = container.bracket == '{' ? Json(key).dump() + ": " : "";
  const auto on_its_line = [&](const std::string& indent) {
    return "\n" + indent + label + Print(value, indent);
  };
  if (container.items.empty()) {
    const std::string outer = IndentAt(text, container.begin);
    const std::size_t close = container.end - 1;
    const std::size_t comments = text.find_last_not_of(kSpace, close - 1) + 1;
    return Splice(text, comments, close, on_its_line(outer + "  ") + "\n" + outer);
  }
  const JsonNode& last = container.items.back();
  const std::size_t tail = EndOfLineComments(text, last.comma ? *last.comma + 1 : last.end);
  const std::string item = StartsItsLine(text, last.start) ? on_its_line(IndentAt(text, last.start))
                                                           : " " + label + value.dump();
  if (last.comma) return Splice(text, tail, tail, item + ",");
  return Splice(Splice(text, tail, tail, item), last.end, last.end, ",");
}

std::string EraseItem(std::string_view text, const JsonNode& container, const JsonNode& item) {
  const JsonNode* previous = &item == &container.items.front() ? nullptr : &item - 1;
  const bool is_last = &item == &container.items.back();
  std::size_t begin = item.start;
  std::size_t end = item.comma ? *item.comma + 1 : item.end;
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
    const std::size_t close = text.find_first_not_of(kSpace, end);
    if (begin == container.begin + 1 && close == container.end - 1) end = close;
  }
  std::string result = Splice(text, begin, end, "");
  if (previous != nullptr && is_last && !item.comma) result.erase(*previous->comma, 1);
  return result;
}

std::string ReplaceValue(std::string_view text, const JsonNode& node, const Json& value) {
  return Splice(text, node.begin, node.end, Print(value, IndentAt(text, node.begin)));
}

}  // namespace configure
