#include "suites/runner/lines.h"

#include <algorithm>
#include <cstddef>

#include "support/printable.h"

namespace suites {
namespace {

constexpr std::string_view kAny = "<*>";
constexpr std::size_t kImpossible = 1'000'000;

}  // namespace

bool Matches(std::string_view pattern, std::string_view text) {
  const std::size_t any = pattern.find(kAny);
  if (any == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, any))) return false;
  pattern.remove_prefix(any + kAny.size());
  for (text.remove_prefix(any); !Matches(pattern, text); text.remove_prefix(1)) {
    if (text.empty()) return false;
  }
  return true;
}

std::vector<Change> Compare(const std::vector<std::string>& expected,
                            const std::vector<std::string>& came) {
  const std::size_t rows = expected.size();
  const std::size_t columns = came.size();
  const auto is_any = [&](std::size_t i) { return i < rows && expected[i] == kAny; };
  const auto fits = [&](std::size_t i, std::size_t j) {
    return i < rows && j < columns && !is_any(i) && Matches(expected[i], came[j]);
  };
  // The changes that the rest needs, after i expected lines and j that came.
  std::vector<std::vector<std::size_t>> cost(rows + 1, std::vector<std::size_t>(columns + 1));
  const auto missing = [&](std::size_t i, std::size_t j) {
    return i == rows ? kImpossible : cost[i + 1][j] + (is_any(i) ? 0 : 1);
  };
  const auto unexpected = [&](std::size_t i, std::size_t j) {
    return j == columns ? kImpossible : cost[i][j + 1] + (is_any(i) ? 0 : 1);
  };
  for (std::size_t i = rows + 1; i-- > 0;) {
    for (std::size_t j = columns + 1; j-- > 0;) {
      if (i == rows && j == columns) continue;
      cost[i][j] = std::min(
          {fits(i, j) ? cost[i + 1][j + 1] : kImpossible, missing(i, j), unexpected(i, j)});
    }
  }
  std::vector<Change> changes;
  for (std::size_t i = 0, j = 0; i < rows || j < columns;) {
    if (fits(i, j) && cost[i][j] == cost[i + 1][j + 1]) {
      changes.push_back({' ', expected[i++]});
      ++j;
    } else if (cost[i][j] == missing(i, j)) {
      changes.push_back({is_any(i) ? ' ' : '-', expected[i]});
      ++i;
    } else if (is_any(i)) {
      ++j;  // one of the lines that it stands for
    } else {
      changes.push_back({'+', came[j++]});
    }
  }
  return changes;
}

bool AreSame(const std::vector<Change>& changes) {
  return std::ranges::all_of(changes, [](const Change& change) { return change.mark == ' '; });
}

std::string Diff(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& change : changes) text += std::string{change.mark, ' '} + change.line + "\n";
  return text;
}

std::vector<std::string> Rewritten(const std::vector<Change>& changes) {
  std::vector<std::string> lines;
  for (const Change& change : changes) {
    if (change.mark != '-') lines.push_back(change.line);
  }
  return lines;
}

std::vector<std::string> PrintableLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(support::Printable(text.substr(0, end), "\t"));
    if (end == text.size()) lines.back() += kNoNewline;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace suites
