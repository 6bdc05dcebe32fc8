#include "configure/json_edit.h"

#include <algorithm>

#include "configure/text_form.h"

namespace configure {
namespace {

std::size_t LineStart(std::string_view text, std::size_t at) {
  const std::size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  return newline == std::string_view::npos ? ByteOrderMarkSize(text) : newline + 1;
}

std::string LineIndent(std::string_view text, std::size_t at) {
  const std::size_t start = LineStart(text, at);
  const std::size_t end = std::min(text.find_first_not_of(" \t", start), at);
  return std::string(text.substr(start, end - start));
}

bool StartsItsLine(std::string_view text, std::size_t at) {
  return LineStart(text, at) + LineIndent(text, at).size() == at;
}

bool IsSpread(std::string_view text, const JsonNode& node) {
  return text.substr(node.begin, node.end - node.begin).find('\n') != std::string_view::npos;
}

std::string Spliced(std::string_view text, std::size_t from, std::size_t to,
                    std::string_view replacement) {
  std::string result(text.substr(0, from));
  result += replacement;
  result += text.substr(to);
  return result;
}

/// Where the last comment inside an empty container ends, else behind its bracket.
std::size_t EndOfComments(std::string_view text, const JsonNode& container) {
  const std::size_t close = SkipBlanks(text, container.begin + 1, container.end - 1);
  const std::size_t last = text.find_last_not_of(" \t\r\n", close - 1);
  return last + 1;
}

/// The items' texts with `separator` before each and commas between.
std::string JoinItems(const std::vector<NewItem>& items, bool keyed, const std::string& separator,
                      const JsonLayout* layout, const std::string& indent) {
  std::string text;
  for (const NewItem& item : items) {
    if (!text.empty()) text += ",";
    const std::string label = keyed ? Json(item.key).dump() + ": " : "";
    text += separator + label;
    text += layout != nullptr ? PrintJson(item.value, *layout, indent, label.size())
                              : PrintJsonInline(item.value);
  }
  return text;
}

std::string FillEmpty(std::string_view text, const JsonLayout& layout, const JsonNode& container,
                      const std::vector<NewItem>& items) {
  const bool keyed = container.kind == JsonNode::Kind::kObject;
  const std::string outer = LineIndent(text, container.begin);
  const std::string indent = outer + layout.unit;
  const std::size_t comments = EndOfComments(text, container);
  const std::size_t close = container.end - 1;
  const bool is_spread =
      text.substr(comments, close - comments).find('\n') != std::string_view::npos;
  const std::string added = is_spread
                                ? JoinItems(items, keyed, layout.line_end + indent, &layout, indent)
                                : JoinItems(items, keyed, " ", &layout, outer);
  // Behind comments, which tell enough that the container is the user's.
  if (comments > container.begin + 1) return Spliced(text, comments, comments, added);
  return Spliced(text, close, close, added + (is_spread ? layout.line_end + outer : " "));
}

/// Where the line before that of `at` ends; the beginning of the text where there is none.
std::size_t EndOfLineBefore(std::string_view text, std::size_t at) {
  const std::size_t start = LineStart(text, at);
  if (start == ByteOrderMarkSize(text)) return start;
  return start - (start > 1 && text[start - 2] == '\r' ? 2U : 1U);
}

bool EndsItsLine(std::string_view text, std::size_t at) {
  const std::size_t next = text.find_first_not_of(" \t\r", at);
  return next == std::string_view::npos || text[next] == '\n';
}

/// Whether `to` lies in or right behind a comment of `//`. From `from` to there are only blanks and
/// comments.
bool IsInLineComment(std::string_view text, std::size_t from, std::size_t to) {
  while (from < to) {
    const std::string_view rest = text.substr(from);
    if (rest.starts_with("//")) {
      from = std::min(text.find('\n', from), text.size());
      if (from >= to) return true;
    } else if (rest.starts_with("/*")) {
      from = text.find("*/", from + 2) + 2;
    } else {
      ++from;
    }
  }
  return false;
}

/// Whether a container of one item holds nothing else, comments included.
bool IsAloneIn(std::string_view text, const JsonNode& container) {
  const JsonItem& item = container.items.front();
  const std::size_t end = item.comma ? *item.comma + 1 : item.value.end;
  return text.find_first_not_of(" \t\r\n", container.begin + 1) == item.begin &&
         text.find_first_not_of(" \t\r\n", end) == container.end - 1;
}

}  // namespace

JsonLayout LayoutOf(std::string_view text, const JsonNode& root) {
  JsonLayout layout;
  layout.line_end = LineEndOf(text);
  if (!root.items.empty() && StartsItsLine(text, root.items.front().begin)) {
    const std::string indent = LineIndent(text, root.items.front().begin);
    if (!indent.empty()) layout.unit = indent;
  }
  return layout;
}

std::size_t EndOfLineComments(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (true) {
    const std::size_t next = std::min(text.find_first_not_of(" \t", end), text.size());
    const std::string_view rest = text.substr(next);
    if (rest.starts_with("//")) {
      const std::size_t newline = std::min(text.find('\n', next), text.size());
      return newline > next && text[newline - 1] == '\r' ? newline - 1 : newline;
    }
    const std::size_t close = rest.starts_with("/*") ? rest.find("*/", 2) : std::string_view::npos;
    if (close == std::string_view::npos ||
        rest.substr(0, close).find('\n') != std::string_view::npos) {
      return end;
    }
    end = next + close + 2;
  }
}

std::string InsertItems(std::string_view text, const JsonLayout& layout, const JsonNode& container,
                        const std::vector<NewItem>& items) {
  const bool keyed = container.kind == JsonNode::Kind::kObject;
  const std::string outer = LineIndent(text, container.begin);
  if (container.items.empty()) return FillEmpty(text, layout, container, items);
  const JsonItem& last = container.items.back();
  const std::size_t end = last.value.end;
  const std::size_t tail = EndOfLineComments(text, last.comma ? *last.comma + 1 : end);
  std::string added;
  if (IsSpread(text, container)) {
    const std::string indent =
        StartsItsLine(text, last.begin) ? LineIndent(text, last.begin) : outer + layout.unit;
    added = JoinItems(items, keyed, layout.line_end + indent, &layout, indent);
  } else {
    added = JoinItems(items, keyed, " ", nullptr, "");
  }
  if (last.comma) return Spliced(text, tail, tail, added + ",");
  return Spliced(Spliced(text, tail, tail, added), end, end, ",");
}

std::optional<std::string> FormerBlanks(std::string_view text, const JsonNode& container) {
  const std::size_t begin = container.begin + 1;
  std::string_view blanks = text.substr(begin, container.items.front().begin - begin);
  const std::size_t newline = blanks.rfind('\n');
  if (newline == std::string_view::npos) {
    if (blanks.empty()) return std::nullopt;
    return std::string(blanks.substr(0, blanks.size() - 1));
  }
  blanks = blanks.substr(0, newline > 0 && blanks[newline - 1] == '\r' ? newline - 1 : newline);
  if (blanks.empty()) return std::nullopt;
  return std::string(blanks);
}

std::string EraseItem(std::string_view text, const JsonNode& container, std::size_t index) {
  if (container.items.size() == 1 && IsAloneIn(text, container)) {
    return Spliced(text, container.begin + 1, container.end - 1,
                   FormerBlanks(text, container).value_or(""));
  }
  const JsonItem& item = container.items[index];
  const JsonItem* previous = index > 0 ? &container.items[index - 1] : nullptr;
  std::size_t begin = item.begin;
  std::size_t end = item.comma ? *item.comma + 1 : item.value.end;
  if (StartsItsLine(text, begin)) {
    end = EndOfLineComments(text, end);
    const std::size_t gap = previous != nullptr ? *previous->comma + 1 : container.begin + 1;
    const std::size_t line = EndOfLineBefore(text, begin);
    if (EndsItsLine(text, end) || !IsInLineComment(text, gap, line)) {
      begin = line;
    } else {
      // What follows on the line would become a part of the comment before it.
      end = std::min(text.find_first_not_of(" \t", end), text.size());
    }
  } else if (index + 1 < container.items.size()) {
    end = std::min(text.find_first_not_of(" \t", end), text.size());
  } else if (previous != nullptr) {
    const std::size_t word = text.find_last_not_of(" \t", begin - 1);
    begin = word + 1;
  } else if (text[begin - 1] == ' ' && begin - 1 > container.begin) {
    --begin;  // behind a comment: see FillEmpty
  }
  std::string result = Spliced(text, begin, end, "");
  // What is now the last item had its comma only for the one that went.
  if (previous != nullptr && index + 1 == container.items.size() && !item.comma) {
    result.erase(*previous->comma, 1);
  }
  return result;
}

std::string ReplaceValue(std::string_view text, const JsonLayout& layout, const JsonNode& node,
                         const Json& value) {
  const std::size_t used = node.begin - LineStart(text, node.begin);
  const std::string indent = LineIndent(text, node.begin);
  const std::string printed = StartsItsLine(text, node.begin) || used < kPrintWidth
                                  ? PrintJson(value, layout, indent, used - indent.size())
                                  : PrintJsonInline(value);
  return Spliced(text, node.begin, node.end, printed);
}

}  // namespace configure
