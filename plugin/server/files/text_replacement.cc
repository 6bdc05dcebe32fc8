// SPDX-License-Identifier: Apache-2.0
#include "files/text_replacement.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "support/regex.h"

namespace files {
namespace {

bool HasLoneLineFeed(std::string_view text) {
  static const support::Regex lone(R"((?:^|[^\r])\n)", support::Regex::kLatin1);
  return lone.PartialMatch(text);
}

std::string WithCarriageReturns(std::string text) {
  static const support::Regex line_end(R"(\r?\n)", support::Regex::kLatin1);
  line_end.ReplaceAll(text, "\r\n");
  return text;
}

struct Match {
  std::size_t position = 0;
  std::size_t length = 0;
  bool has_carriage_returns = false;  ///< found with CRLF in place of LF
};

/// The position of `sought` at or behind `from`, or npos. Takes linear time, as memmem does.
std::size_t Find(std::string_view text, std::string_view sought, std::size_t from,
                 const support::Context& context) {
  constexpr std::size_t kChunk = std::size_t{64} << 10;
  const std::size_t step = std::max(kChunk, sought.size());
  for (; !sought.empty() && from + sought.size() <= text.size(); from += step) {
    context.ThrowIfStopped();
    const std::string_view part = text.substr(from, step + sought.size() - 1);
    const void* found = ::memmem(part.data(), part.size(), sought.data(), sought.size());
    if (found != nullptr) {
      return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    }
  }
  return std::string_view::npos;
}

/// Visits the occurrences with either line end from left to right; of two that overlap, the first.
void ForEachMatch(std::string_view text, std::string_view sought, const support::Context& context,
                  const std::function<void(const Match&)>& visit) {
  const std::string converted =
      HasLoneLineFeed(sought) ? WithCarriageReturns(std::string(sought)) : "";
  std::size_t next = Find(text, sought, 0, context);
  std::size_t next_converted = Find(text, converted, 0, context);
  while (std::min(next, next_converted) != std::string_view::npos) {
    const bool is_converted = next_converted < next;
    const Match match = {std::min(next, next_converted),
                         is_converted ? converted.size() : sought.size(), is_converted};
    visit(match);
    const std::size_t end = match.position + match.length;
    if (next < end) next = Find(text, sought, end, context);
    if (next_converted < end) next_converted = Find(text, converted, end, context);
  }
}

}  // namespace

Occurrences FindOccurrences(std::string_view text, std::string_view sought,
                            const support::Context& context) {
  Occurrences found;
  std::uint64_t line = 1;
  std::size_t counted_to = 0;
  ForEachMatch(text, sought, context, [&](const Match& match) {
    if (found.count++ == 0) found.first = match.position;
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
    if (replaced.text.size() > maximum_size) return;
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
