#include "files/text_replacement.h"

#include <algorithm>
#include <functional>
#include <utility>

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

/// Finds all occurrences of a text, also overlapping ones (Knuth, Morris and Pratt).
class Search {
 public:
  Search(std::string_view text, std::string sought) : text_(text), sought_(std::move(sought)) {
    if (sought_.size() > text_.size()) {
      position_ = text_.size();
      return;
    }
    borders_.resize(sought_.size());
    for (std::size_t i = 1, matched = 0; i < sought_.size(); ++i) {
      matched = Extend(matched, sought_[i]);
      borders_[i] = matched;
    }
  }

  /// The position of the next occurrence.
  std::optional<std::size_t> Next() {
    while (position_ < text_.size()) {
      matched_ = Extend(matched_, text_[position_++]);
      if (matched_ < sought_.size()) continue;
      matched_ = borders_[matched_ - 1];
      return position_ - sought_.size();
    }
    return std::nullopt;
  }

  [[nodiscard]] std::size_t length() const { return sought_.size(); }

 private:
  /// The length of the match after `next`, if it was `matched` before.
  [[nodiscard]] std::size_t Extend(std::size_t matched, char next) const {
    while (matched > 0 && sought_[matched] != next) matched = borders_[matched - 1];
    return sought_[matched] == next ? matched + 1 : matched;
  }

  std::string_view text_;
  std::string sought_;
  std::vector<std::size_t> borders_;  // the longest proper prefix that is also a suffix
  std::size_t position_ = 0;
  std::size_t matched_ = 0;
};

struct Match {
  std::size_t position = 0;
  std::size_t length = 0;
  bool has_carriage_returns = false;  ///< found with CRLF in place of LF
};

/// Visits the occurrences with either line end, from left to right.
void ForEachMatch(std::string_view text, std::string_view sought,
                  const std::function<void(const Match&)>& visit) {
  Search plain(text, std::string(sought));
  std::optional<Search> converted;
  if (HasLoneLineFeed(sought)) converted.emplace(text, WithCarriageReturns(sought));
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t next = plain.Next().value_or(kNone);
  std::size_t next_converted = converted ? converted->Next().value_or(kNone) : kNone;
  while (next != kNone || next_converted != kNone) {
    if (next_converted < next) {
      // The LF of that CRLF is not another occurrence.
      if (sought.front() == '\n' && next == next_converted + 1) {
        next = plain.Next().value_or(kNone);
      }
      visit({next_converted, converted->length(), true});
      next_converted = converted->Next().value_or(kNone);
    } else {
      visit({next, plain.length(), false});
      next = plain.Next().value_or(kNone);
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
