// SPDX-License-Identifier: Apache-2.0
#include "configure/json_text.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "support/format.h"
#include "support/regex.h"
#include "support/utf8.h"

namespace configure {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
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
  return support::Format(":{}:{}", std::count(before.begin(), before.end(), '\n') + 1,
                         std::count_if(line.begin(), line.end(), is_character) + 1);
}

[[noreturn]] void Fail(std::string_view text, std::size_t offset, const std::string& reason) {
  throw support::CommandError("{}: {}", Place(text, offset), reason);
}

/// The length of what matches at the start of `text`.
std::size_t MatchLength(std::string_view text, const support::Regex& pattern) {
  std::string_view rest = text;
  pattern.Consume(rest);
  return text.size() - rest.size();
}

std::size_t SkipSpaceAndComments(std::string_view text, std::size_t from) {
  static const support::Regex skipped(R"((?:[ \t\r\n]|//[^\n]*|/\*(?s:.*?)\*/)*)");
  if (from == 0 && text.starts_with(kByteOrderMark)) from = kByteOrderMark.size();
  return from + MatchLength(text.substr(from), skipped);
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
      if (!node.items.empty() && !node.items.back().comma)
        Fail(text_, at_, support::Format("expected ',' or '{}'", close));
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
    static const support::Regex scalars(R"re("(?:[^"\\\n]|\\.)*"|[^ \t\r\n,:\[\]{}"/]+)re");
    const std::string_view scalar = text_.substr(at_, MatchLength(text_.substr(at_), scalars));
    const bool is_string = Sees('"');
    if (scalar.empty()) {
      Fail(text_, at_, is_string ? "this string is never closed" : "expected a value");
    }
    Json value = Json::parse(scalar, nullptr, false);
    if (value.is_discarded() && !is_string) Fail(text_, at_, "not a JSON value");
    at_ += scalar.size();
    // JavaScript writes half a surrogate pair when it has cut a text. nlohmann rejects that.
    return value.is_discarded() ? Json(scalar) : value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// The node at `path`, as far as that exists.
JsonNode NodeAt(std::string_view text, const JsonPath& path) {
  JsonNode node;
  if (path.empty()) {
    Parser(text).ParseDocument(node);
    return node;
  }
  node = NodeAt(text, path.parent_pointer());
  const auto item = std::find_if(node.items.rbegin(), node.items.rend(),
                                 [&](const JsonNode& each) { return each.key == path.back(); });
  return item == node.items.rend() ? node : JsonNode(*item);
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

/// Makes one of the changes that lead from `before`, the value of `node`, to `after`. Returns
/// nothing if they are equal.
///
/// One at a time, since each change moves the offsets of all later nodes: Rewrite parses again
/// after each. Both values list what stays in the same order, so one walk is enough: an old item
/// that is not the next new one is erased, and whatever is left of `after` at the end is appended.
/// A name that occurs twice is refused, because agents differ in which one counts.
std::optional<std::string> MakeChange(std::string_view text, const JsonNode& node,
                                      const Json& before, const Json& after) {
  if (before == after) return std::nullopt;
  if (!before.is_structured() || before.type() != after.type()) {
    return Splice(text, node.begin, node.end, after.dump());
  }
  for (const JsonNode& item : node.items) {
    if (!item.is_twin) continue;
    Fail(text, item.start,
         support::Format("\"{}\" is there more than once; leave only one of them", item.key));
  }
  auto old = before.begin();
  auto next = after.begin();
  for (const JsonNode& item : node.items) {
    const bool stays =
        next != after.end() && (after.is_object() ? next.key() == item.key : *next == *old);
    if (!stays) return EraseItem(text, node, item);
    if (auto changed = MakeChange(text, item, *old, *next)) return changed;
    ++old;
    ++next;
  }
  return InsertItem(text, node, after.is_object() ? next.key() : "", *next);
}

}  // namespace

Json ParseJson(std::string_view text) {
  JsonNode root;
  return Parser(text).ParseDocument(root);
}

std::string Rewrite(std::string text, const Json& value) {
  while (true) {
    JsonNode root;
    const Json before = Parser(text).ParseDocument(root);
    auto changed = MakeChange(text, root, before, value);
    if (!changed) return text;
    text = *std::move(changed);
  }
}

bool HasComment(std::string_view text, const JsonPath& path) {
  const JsonNode node = NodeAt(text, path);
  return text.substr(node.begin, node.end - node.begin).find('/') != text.npos;
}

std::string PlaceOf(std::string_view text, const JsonPath& path) {
  return Place(text, NodeAt(text, path).begin);
}

}  // namespace configure
