// SPDX-License-Identifier: Apache-2.0
#include "suites/runner/suite.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <stdexcept>

#include "support/printable.h"

namespace suites {
namespace {

constexpr std::string_view kAny = "<*>";

constexpr std::string_view kKeywords[] = {
    "=",     "$",    "copy$",    "guest$",     "terminal $", ">",      ">>",    "wait:",
    "serve", "stop", "instance", "repository", "project:",   "agent:", "needs", "each"};

/// What an expected line may begin with, beside plain output.
constexpr std::string_view kMarks[] = {"! ", "exit ", "<", "|"};

/// The line's first word or words, if they are one; else empty.
std::string_view KeywordOf(std::string_view line) {
  for (const std::string_view keyword : kKeywords) {
    if (line == keyword || line.starts_with(std::string(keyword) + " ")) return keyword;
  }
  return {};
}

bool IsComment(std::string_view line) {
  return line.empty() || line.starts_with('#');
}

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

}  // namespace

Suite ReadSuite(const std::filesystem::path& path) {
  Suite suite{.file = path};
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  for (std::string line; std::getline(file, line);) suite.lines.push_back(line);
  std::vector<Step>* steps = &suite.head;
  Step* above = nullptr;  // the step whose output may follow
  for (std::size_t number = 1; number <= suite.lines.size(); ++number) {
    std::string line = suite.lines[number - 1];
    const std::string keyword(KeywordOf(line));
    if (IsComment(line)) {
      above = nullptr;
    } else if (keyword == "=") {
      steps = &suite.tests.emplace_back(Case{.name = line.substr(2)}).steps;
      above = nullptr;
    } else if (!keyword.empty()) {
      Step step{.keyword = keyword, .text = line.erase(0, keyword.size() + 1), .line = number};
      while (step.text.ends_with('\\') && number < suite.lines.size()) {
        step.text += "\n" + suite.lines[number++];
      }
      step.end = number + 1;
      above = &steps->emplace_back(std::move(step));
    } else if (above != nullptr) {
      above->expected.push_back(line);
    } else {
      throw std::runtime_error(path.string() + ":" + std::to_string(number) +
                               ": here must be a keyword, or output right below its command (an "
                               "empty line of it is |)");
    }
  }
  if (suite.tests.empty()) {
    throw std::runtime_error(path.string() + ": there is no test; it begins with: = A sentence");
  }
  return suite;
}

void Rewrite(const Suite& suite) {
  std::ofstream file(suite.file);
  std::size_t next = 1;
  const auto copy_until = [&](std::size_t end) {
    for (; next < end; ++next) file << suite.lines[next - 1] << "\n";
  };
  for (const Case& test : suite.tests) {
    for (const Step& step : test.steps) {
      if (!step.came) continue;
      copy_until(step.end);
      for (const std::string& line : *step.came) file << line << "\n";
      next += step.expected.size();
    }
  }
  copy_until(suite.lines.size() + 1);
}

Lines Words(const std::string& text) {
  Lines words;
  std::istringstream rest(text);
  for (std::string word; rest >> std::quoted(word);) words.push_back(word);
  return words;
}

void ReplaceWord(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
    const char next = text.c_str()[at + from.size()];
    const bool is_whole = std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '_';
    if (is_whole) text.replace(at, from.size(), to);
    at += is_whole ? to.size() : from.size();
  }
}

std::string AsOutput(const std::string& line) {
  const auto begins_with = [&](std::string_view mark) { return line.starts_with(mark); };
  if (line.empty()) return "|";
  const bool is_ambiguous =
      IsComment(line) || !KeywordOf(line).empty() || std::ranges::any_of(kMarks, begins_with);
  return (is_ambiguous ? "| " : "") + line;
}

Lines PrintableLines(const std::string& text, const std::string& mark) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    line = mark + support::Printable(line, "\t");
    lines.push_back(line == mark ? mark.substr(0, mark.find(' ')) : line);
  }
  if (!text.empty() && text.back() != '\n') lines.back() += " (no newline)";
  return lines;
}

Comparison Compare(const Lines& expected, const Lines& came, const Lines& written) {
  constexpr std::size_t kImpossible = 1'000'000;
  const std::size_t rows = expected.size();
  const std::size_t columns = came.size();
  const auto is_any = [&](std::size_t i) { return i < rows && expected[i] == kAny; };
  const auto fits = [&](std::size_t i, std::size_t j) {
    return i < rows && j < columns && Matches(expected[i], came[j]);
  };
  // The differences of the rest, after i expected lines and j that came.
  std::vector cost(rows + 2, std::vector<std::size_t>(columns + 2, kImpossible));
  for (std::size_t i = rows + 1; i-- > 0;) {
    const std::size_t price = is_any(i) ? 0 : 1;
    for (std::size_t j = columns + 1; j-- > 0;) {
      if (i == rows && j == columns) cost[i][j] = 0;
      cost[i][j] = std::min({cost[i][j], cost[i + 1][j] + price, cost[i][j + 1] + price,
                             fits(i, j) ? cost[i + 1][j + 1] : kImpossible});
    }
  }
  Comparison comparison{.is_same = cost[0][0] == 0, .diff = {}, .rewritten = {}};
  const auto add = [&](char mark, const std::string& line) {
    comparison.diff += std::string{mark, ' '} + line + "\n";
    if (mark != '-') comparison.rewritten.push_back(line);
  };
  for (std::size_t i = 0, j = 0; i < rows || j < columns;) {
    const bool is_pair = fits(i, j) && cost[i][j] == cost[i + 1][j + 1];
    const bool is_missing = !is_pair && cost[i][j] == cost[i + 1][j] + (is_any(i) ? 0 : 1);
    if (is_pair || is_missing) add(is_pair || is_any(i) ? ' ' : '-', written[i]);
    if (!is_pair && !is_missing && !is_any(i)) add('+', came[j]);
    if (is_pair || !is_missing) ++j;
    if (is_pair || is_missing) ++i;
  }
  return comparison;
}

}  // namespace suites
