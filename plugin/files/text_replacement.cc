#include "files/text_replacement.h"

#include <re2/re2.h>

#include <algorithm>
#include <functional>

#include "support/re2_text.h"

namespace files {
namespace {

using re2::RE2;

bool HasLoneLineFeed(std::string_view text) {
  static const RE2 lone(R"((?:^|[^\r])\n)", RE2::Latin1);
  return RE2::PartialMatch(support::Re2Text(text), lone);
}

std::string WithCarriageReturns(std::string text) {
  static const RE2 line_end(R"(\r?\n)", RE2::Latin1);
  RE2::GlobalReplace(&text, line_end, "\r\n");
  return text;
}

struct Match {
  std::size_t position = 0;
  std::size_t length = 0;
  bool has_carriage_returns = false;  ///< found with CRLF in place of LF
};

/// Finds all occurrences from left to right, including overlapping ones, in linear time (Knuth,
/// Morris and Pratt).
class Search {
 public:
  Search(std::string_view text, std::string_view sought, const support::Context& context)
      : text_(text), sought_(sought), context_(context) {
    if (sought.size() > text.size()) sought_ = {};
    borders_.resize(sought_.size());
    for (std::size_t i = 1; i < borders_.size(); ++i)
      borders_[i] = Extend(borders_[i - 1], sought_[i]);
  }

  /// Returns the position of the next occurrence, npos after the last.
  std::size_t Next() {
    while (!sought_.empty() && at_ < text_.size()) {
      if (at_ % kChunk == 0) context_.ThrowIfStopped();
      matched_ = Extend(matched_, text_[at_++]);
      if (matched_ == sought_.size()) return at_ - sought_.size();
    }
    return std::string_view::npos;
  }

 private:
  static constexpr std::size_t kChunk = std::size_t{64} << 10;

  /// How many of the first bytes of `sought_` precede the next byte of a text and include it, if
  /// `matched` of them precede it.
  std::uint32_t Extend(std::uint32_t matched, char next) const {
    while (matched > 0 && (matched == sought_.size() || sought_[matched] != next)) {
      matched = borders_[matched - 1];
    }
    return sought_[matched] == next ? matched + 1 : 0;
  }

  std::string_view text_;
  std::string_view sought_;
  const support::Context& context_;
  /// For each byte of `sought_`: how many bytes, ending with it, are also the first ones.
  std::vector<std::uint32_t> borders_;
  std::uint32_t matched_ = 0;
  std::size_t at_ = 0;
};

/// Visits the occurrences with either line end from left to right, including overlapping ones.
void ForEachMatch(std::string_view text, std::string_view sought, const support::Context& context,
                  const std::function<void(const Match&)>& visit) {
  const std::string converted =
      HasLoneLineFeed(sought) ? WithCarriageReturns(std::string(sought)) : "";
  constexpr std::size_t kNone = std::string_view::npos;
  Search search(text, sought, context);
  Search converted_search(text, converted, context);
  std::size_t next = search.Next();
  std::size_t next_converted = converted_search.Next();
  while (next != kNone || next_converted != kNone) {
    if (next_converted < next) {
      // The LF of that CRLF is not another occurrence.
      if (sought.front() == '\n' && next == next_converted + 1) next = search.Next();
      visit({next_converted, converted.size(), true});
      next_converted = converted_search.Next();
    } else {
      visit({next, sought.size(), false});
      next = search.Next();
    }
  }
}

}  // namespace

Occurrences FindOccurrences(std::string_view text, std::string_view sought,
                            const support::Context& context) {
  Occurrences found;
  std::uint64_t line = 1;
  std::size_t counted_to = 0;
  ForEachMatch(text, sought, context, [&](const Match& match) {
    ++found.count;
    if (found.lines.size() == kMaxListedLines) return;
    const std::string_view passed = text.substr(counted_to, match.position - counted_to);
    line += static_cast<std::uint64_t>(std::count(passed.begin(), passed.end(), '\n'));
    counted_to = match.position;
    if (found.lines.empty() || found.lines.back() != line) found.lines.push_back(line);
  });
  return found;
}

std::optional<ReplacedText> ReplaceOccurrences(std::string_view text, std::string_view sought,
                                               std::string_view replacement,
                                               std::size_t maximum_size,
                                               const support::Context& context) {
  const std::string converted = WithCarriageReturns(std::string(replacement));
  const bool plain_is_converted = sought.find('\n') == std::string_view::npos &&
                                  text.find('\n') != std::string_view::npos &&
                                  !HasLoneLineFeed(text);
  ReplacedText replaced;
  std::size_t copied_to = 0;
  ForEachMatch(text, sought, context, [&](const Match& match) {
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
