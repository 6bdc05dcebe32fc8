#include "suites/runner/suite.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace suites {
namespace {

constexpr std::string_view kTest = "= ";

constexpr std::array<std::string_view, 14> kKeywords = {
    "$",    "copy$",    "guest$",     "terminal $", ">",      "wait:", "serve",
    "stop", "instance", "repository", "project:",   "agent:", "needs", "each"};

/// What an expected line may begin with, beside plain output.
constexpr std::array<std::string_view, 6> kMarks = {"! ", "exit ", "| ", "<", "keys ", "|"};

/// The line's first word or words, if they are one; else empty.
std::string_view KeywordOf(std::string_view line) {
  for (const std::string_view keyword : kKeywords) {
    if (line == keyword || line.starts_with(std::string(keyword) + " ")) return keyword;
  }
  return {};
}

bool HasOutput(std::string_view keyword) {
  return keyword.ends_with('$') || keyword == ">";
}

bool IsComment(std::string_view line) {
  return line.empty() || line.starts_with('#');
}

}  // namespace

Suite ReadSuite(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  Suite suite{.file = path, .head = {}, .tests = {}};
  std::size_t number = 0;
  bool takes_output = false;
  const auto steps = [&]() -> std::vector<Step>& {
    return suite.tests.empty() ? suite.head : suite.tests.back().steps;
  };
  const auto fail = [&](const std::string& what) {
    throw std::runtime_error(path.string() + ":" + std::to_string(number) + ": " + what);
  };
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (IsComment(line)) continue;
    if (line.starts_with(kTest)) {
      suite.tests.push_back({.name = line.substr(kTest.size()), .line = number, .steps = {}});
      takes_output = false;
      continue;
    }
    if (const std::string_view keyword = KeywordOf(line); !keyword.empty()) {
      takes_output = HasOutput(keyword) && !suite.tests.empty();
      Step step{.keyword = std::string(keyword),
                .text = line.substr(std::min(keyword.size() + 1, line.size())),
                .line = number,
                .expected = {},
                .expected_line = 0};
      while (step.text.ends_with('\\') && std::getline(file, line)) {
        ++number;
        step.text += "\n" + line;
      }
      step.expected_line = number + 1;
      steps().push_back(std::move(step));
      continue;
    }
    if (!takes_output) fail("nothing here has output, so this must be a keyword: " + line);
    // A blank line or a comment ends the output.
    Step& step = steps().back();
    if (step.expected_line + step.expected.size() != number) {
      fail(
          "output must follow its command without a blank line or a comment (write an empty line "
          "as |)");
    }
    step.expected.push_back(line);
  }
  if (suite.tests.empty()) fail("there is no test; its first line is: = A sentence");
  return suite;
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  std::istringstream rest{std::string(text)};
  for (std::string word; std::getline(rest >> std::ws, word, ' ');) {
    for (std::string more; std::ranges::count(word, '"') % 2 == 1; word += " " + more) {
      if (!std::getline(rest, more, ' ')) throw std::runtime_error("a quote is open: " + word);
    }
    std::erase(word, '"');
    words.push_back(word);
  }
  return words;
}

void ReplaceWord(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos;) {
    const char next = at + from.size() < text.size() ? text[at + from.size()] : ' ';
    const bool is_whole = std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '_';
    if (is_whole) text.replace(at, from.size(), to);
    at += is_whole ? to.size() : from.size();
  }
}

std::string AsOutput(const std::string& line) {
  const bool is_ambiguous =
      IsComment(line) || line.starts_with(kTest) || !KeywordOf(line).empty() ||
      std::ranges::any_of(kMarks, [&](std::string_view mark) { return line.starts_with(mark); });
  if (!is_ambiguous) return line;
  return line.empty() ? "|" : "| " + line;
}

void Rewrite(std::vector<std::string>& file, const Step& step,
             const std::vector<std::string>& lines) {
  const auto begin = file.begin() + static_cast<std::ptrdiff_t>(step.expected_line - 1);
  const auto after = file.erase(begin, begin + static_cast<std::ptrdiff_t>(step.expected.size()));
  file.insert(after, lines.begin(), lines.end());
}

}  // namespace suites
