#include "suites/runner/lines.h"

#include <algorithm>
#include <cstddef>

#include "support/printable.h"

namespace suites {
namespace {

constexpr std::string_view kAny = "<*>";

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
  // cost[i][j]: the number of changes between the rest after i expected lines and after j that
  // came.
  const std::size_t rows = expected.size();
  const std::size_t columns = came.size();
  std::vector<std::vector<std::size_t>> cost(rows + 1, std::vector<std::size_t>(columns + 1));
  const auto fits = [&](std::size_t i, std::size_t j) {
    return i < rows && j < columns && Matches(expected[i], came[j]);
  };
  for (std::size_t i = rows + 1; i-- > 0;) {
    for (std::size_t j = columns + 1; j-- > 0;) {
      if (i == rows || j == columns) {
        const auto rest =
            std::count_if(expected.begin() + static_cast<std::ptrdiff_t>(i), expected.end(),
                          [](const std::string& line) { return line != kAny; });
        cost[i][j] = static_cast<std::size_t>(rest) + (columns - j);
        if (i < rows && expected[i] == kAny) cost[i][j] = cost[i + 1][j];
        continue;
      }
      cost[i][j] = 1 + std::min(cost[i + 1][j], cost[i][j + 1]);
      if (fits(i, j)) cost[i][j] = std::min(cost[i][j], cost[i + 1][j + 1]);
      if (expected[i] == kAny) cost[i][j] = std::min(cost[i + 1][j], cost[i][j + 1]);
    }
  }
  std::vector<Change> changes;
  for (std::size_t i = 0, j = 0; i < rows || j < columns;) {
    if (i < rows && expected[i] == kAny) {
      // It takes lines as long as that is cheapest.
      while (j < columns && cost[i][j + 1] < cost[i + 1][j]) ++j;
      changes.push_back({Change::Kind::kSame, expected[i++]});
    } else if (fits(i, j) && cost[i][j] == cost[i + 1][j + 1]) {
      changes.push_back({Change::Kind::kSame, expected[i++]});
      ++j;
    } else if (i < rows && (j == columns || cost[i][j] == 1 + cost[i + 1][j])) {
      changes.push_back({Change::Kind::kMissing, expected[i++]});
    } else {
      changes.push_back({Change::Kind::kUnexpected, came[j++]});
    }
  }
  return changes;
}

bool AreSame(const std::vector<Change>& changes) {
  return std::all_of(changes.begin(), changes.end(),
                     [](const Change& change) { return change.kind == Change::Kind::kSame; });
}

std::string Diff(const std::vector<Change>& changes) {
  std::string text;
  for (const auto& [kind, line] : changes) {
    text += kind == Change::Kind::kSame ? "  " : kind == Change::Kind::kMissing ? "- " : "+ ";
    text += line + "\n";
  }
  return text;
}

std::vector<std::string> Rewritten(const std::vector<Change>& changes) {
  std::vector<std::string> lines;
  for (const auto& [kind, line] : changes) {
    if (kind != Change::Kind::kMissing) lines.push_back(line);
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
