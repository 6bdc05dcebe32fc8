#include "configure/json_text.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "support/utf8.h"

namespace configure {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::size_t kMaxDepth = 100;

struct JsonNode {
  std::string key = {};   ///< of a member of an object; of an element, its number
  std::size_t start = 0;  ///< of the key, else `begin`
  std::size_t begin = 0;
  std::size_t end = 0;
  std::optional<std::size_t> comma = {};  ///< the position of the comma after it
  char bracket = '\0';                    ///< '{' or '[' of a container
  std::vector<JsonNode> items = {};       ///< of a container
  bool is_twin = false;                   ///< has the key of an earlier item
};

std::string Place(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::string_view line = before.substr(before.rfind('\n') + 1);
  const auto is_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return ":" + std::to_string(std::count(before.begin(), before.end(), '\n') + 1) + ":" +
         std::to_string(std::count_if(line.begin(), line.end(), is_character) + 1);
}

[[noreturn]] void Fail(std::string_view text, std::size_t offset, const std::string& reason) {
  throw support::CallError(Place(text, offset) + ": " + reason);
}

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
  explicit Parser(std::string_view text) : text_(text) {}

  Json ParseDocument(JsonNode& root) {
    const std::size_t valid = support::ValidUtf8Prefix(text_);
    if (valid < text_.size()) Fail(text_, valid, "this byte is not UTF-8");
    Skip();
    Json value = ParseValue(root, 0);
    Skip();
    if (at_ < text_.size()) Fail(text_, at_, "unexpected text after the end of the value");
    return value;
  }

 private:
  [[nodiscard]] bool Sees(char byte) const { return at_ < text_.size() && text_[at_] == byte; }

  void Skip() {
    at_ = SkipSpaceAndComments(text_, at_);
    if (text_.substr(at_).starts_with("/*")) Fail(text_, at_, "this comment is never closed");
  }

  Json ParseValue(JsonNode& node, std::size_t depth) {
    if (depth > kMaxDepth) Fail(text_, at_, "nested too deeply");
    node.begin = at_;
    Json value = Sees('{') || Sees('[') ? ParseItems(node, depth) : ParseScalar();
    node.end = at_;
    return value;
  }

  Json ParseItems(JsonNode& node, std::size_t depth) {
    node.bracket = text_[at_++];
    const bool is_object = node.bracket == '{';
    const std::string close = is_object ? "}" : "]";
    Json value = is_object ? Json::object() : Json::array();
    for (Skip(); !Sees(close[0]); Skip()) {
      if (at_ >= text_.size()) Fail(text_, node.begin, "this bracket is never closed");
      if (!node.items.empty() && !node.items.back().comma) {
        Fail(text_, at_, "expected ',' or '" + close + "'");
      }
      JsonNode item = {.start = at_};
      item.key = is_object ? ParseKey() : std::to_string(node.items.size());
      Json parsed = ParseValue(item, depth + 1);
      if (is_object) {
        item.is_twin = value.contains(item.key);
        value[item.key] = std::move(parsed);
      } else {
        value.push_back(std::move(parsed));
      }
      Skip();
      if (Sees(',')) item.comma = at_++;
      node.items.push_back(std::move(item));
    }
    ++at_;
    return value;
  }

  std::string ParseKey() {
    if (!Sees('"')) Fail(text_, at_, "expected a key in double quotes");
    std::string key = ParseScalar().get<std::string>();
    Skip();
    if (!Sees(':')) Fail(text_, at_, "expected ':' after the key");
    ++at_;
    Skip();
    return key;
  }

  Json ParseScalar() {
    const std::size_t begin = at_;
    const bool is_string = Sees('"');
    if (is_string) {
      for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_) {
        if (text_[at_] == '\\') ++at_;
      }
      if (!Sees('"')) Fail(text_, begin, "this string is never closed");
      ++at_;
    } else {
      at_ = std::min(text_.find_first_of(" \t\r\n,:[]{}\"/", at_), text_.size());
      if (at_ == begin) Fail(text_, begin, "expected a value");
    }
    const std::string_view scalar = text_.substr(begin, at_ - begin);
    Json value = Json::parse(scalar, nullptr, false);
    if (!value.is_discarded()) return value;
    if (!is_string) Fail(text_, begin, "not a JSON value");
    // JavaScript writes half a surrogate pair when it has cut a text. nlohmann rejects that.
    return scalar;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Nothing if there is no such item.
const JsonNode* FindItem(std::string_view text, const JsonNode& container, const std::string& key) {
  const auto item = std::find_if(container.items.rbegin(), container.items.rend(),
                                 [&](const JsonNode& each) { return each.key == key; });
  if (item == container.items.rend()) return nullptr;
  if (!item->is_twin) return &*item;
  Fail(text, item->start, "\"" + key + "\" is there more than once; leave only one of them");
}

/// The node at `path`, as far as that exists.
JsonNode NodeAt(std::string_view text, const KeyPath& path) {
  JsonNode node;
  Parser(text).ParseDocument(node);
  for (const std::string& key : path) {
    const JsonNode* item = FindItem(text, node, key);
    if (item == nullptr) break;
    node = JsonNode(*item);
  }
  return node;
}

/// The indentation of the line of `at`.
std::string IndentAt(std::string_view text, std::size_t at) {
  const std::size_t start = text.substr(0, at).rfind('\n') + 1;  // 0 in the first line
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

/// Adds an item after the last one. An array ignores `key`.
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

/// Undoes InsertItem, but for the space in a container that was empty. Comments stay.
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

}  // namespace

Json ParseJson(std::string_view text) {
  JsonNode root;
  return Parser(text).ParseDocument(root);
}

std::string SetAt(std::string_view text, const KeyPath& path, const Json& value) {
  const JsonNode parent = NodeAt(text, {path.begin(), path.end() - 1});
  const JsonNode* item = FindItem(text, parent, path.back());
  if (item == nullptr) return InsertItem(text, parent, path.back(), value);
  const std::string_view old = text.substr(item->begin, item->end - item->begin);
  const bool has_lines = old.find('\n') != text.npos;
  return Splice(text, item->begin, item->end,
                has_lines ? Print(value, IndentAt(text, item->begin)) : value.dump());
}

std::string EraseAt(std::string_view text, const KeyPath& path) {
  const JsonNode parent = NodeAt(text, {path.begin(), path.end() - 1});
  return EraseItem(text, parent, *FindItem(text, parent, path.back()));
}

bool HasComment(std::string_view text, const KeyPath& path) {
  const JsonNode node = NodeAt(text, path);
  return text.substr(node.begin, node.end - node.begin).find('/') != text.npos;
}

std::string PlaceOf(std::string_view text, const KeyPath& path) {
  return Place(text, NodeAt(text, path).begin);
}

}  // namespace configure
