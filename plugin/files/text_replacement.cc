#include "files/text_replacement.h"

#include <algorithm>
#include <functional>

namespace files {
namespace {

bool IsLoneLineFeed(std::string_view text, std::size_t at) {
  return text[at] == '\n' && (at == 0 || text[at - 1] != '\r');
}

bool HasLoneLineFeed(std::string_view text) {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    if (IsLoneLineFeed(text, at)) return true;
  return false;
}

std::string WithCarriageReturns(std::string_view text) {
  std::string converted;
  converted.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (IsLoneLineFeed(text, at)) converted += '\r';
    converted += text[at];
  }
  return converted;
}

struct Match {
  std::size_t position = 0;
  std::size_t length = 0;
  bool has_carriage_returns = false;  ///< found with CRLF in place of LF
};

/// Visits the occurrences with either line end from left to right, including overlapping ones.
void ForEachMatch(std::string_view text, std::string_view sought,
                  const std::function<void(const Match&)>& visit) {
  const std::string converted = HasLoneLineFeed(sought) ? WithCarriageReturns(sought) : "";
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t next = text.find(sought);
  std::size_t next_converted = converted.empty() ? kNone : text.find(converted);
  while (next != kNone || next_converted != kNone) {
    if (next_converted < next) {
      // The LF of that CRLF is not another occurrence.
      if (sought.front() == '\n' && next == next_converted + 1) next = text.find(sought, next + 1);
      visit({next_converted, converted.size(), true});
      next_converted = text.find(converted, next_converted + 1);
    } else {
      visit({next, sought.size(), false});
      next = text.find(sought, next + 1);
    }
  }
}

}  // namespace

Occurrences FindOccurrences(std::string_view text, std::string_view sought) {
  Occurrences found;
  std::uint64_t line = 1;
  std::size_t counted_to = 0;
  ForEachMatch(text, sought, [&](const Match& match) {
    ++found.count;
    if (found.lines.size() == kMaximumListedLines) return;
    const std::string_view passed = text.substr(counted_to, match.position - counted_to);
    line += static_cast<std::uint64_t>(std::count(passed.begin(), passed.end(), '\n'));
    counted_to = match.position;
    if (found.lines.empty() || found.lines.back() != line) found.lines.push_back(line);
  });
  return found;
}

std::optional<ReplacedText> ReplaceOccurrences(std::string_view text, std::string_view sought,
                                               std::string_view replacement,
                                               std::size_t maximum_size) {
  const std::string converted = WithCarriageReturns(replacement);
  const bool plain_is_converted = sought.find('\n') == std::string_view::npos &&
                                  text.find('\n') != std::string_view::npos &&
                                  !HasLoneLineFeed(text);
  ReplacedText replaced;
  std::size_t copied_to = 0;
  ForEachMatch(text, sought, [&](const Match& match) {
    if (match.position < copied_to || replaced.text.size() > maximum_size) return;
    replaced.text += text.substr(copied_to, match.position - copied_to);
    replaced.text += match.has_carriage_returns || plain_is_converted ? std::string_view(converted)
                                                                      : replacement;
    copied_to = match.position + match.length;
    ++replaced.replacements;
  });
  if (replaced.text.size() > maximum_size) return std::nullopt;
  replaced.text += text.substr(copied_to);
  if (replaced.text.size() > maximum_size) return std::nullopt;
  return replaced;
}

}  // namespace files
