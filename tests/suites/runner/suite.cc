#include "suites/runner/suite.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <utility>

namespace suites {
namespace {

using Kind = Step::Kind;

constexpr std::string_view kTest = "= ";

struct Keyword {
  std::string_view text;
  Kind kind;
  bool has_output;
};

constexpr std::array kKeywords = {
    Keyword{"$ ", Kind::kHost, true},
    Keyword{"copy$ ", Kind::kCopy, true},
    Keyword{"guest$ ", Kind::kGuest, true},
    Keyword{"terminal $ ", Kind::kTerminal, true},
    Keyword{"> ", Kind::kCall, true},
    Keyword{"wait: ", Kind::kWait, false},
    Keyword{"serve ", Kind::kServe, false},
    Keyword{"stop", Kind::kStop, false},
    Keyword{"instance ", Kind::kInstance, false},
    Keyword{"repository ", Kind::kRepository, false},
    Keyword{"project:", Kind::kProject, false},
    Keyword{"agent: ", Kind::kAgent, false},
    Keyword{"needs ", Kind::kNeeds, false},
    Keyword{"each ", Kind::kEach, false},
};

/// What an expected line may begin with, beside plain output.
constexpr std::array<std::string_view, 6> kMarks = {"! ", "exit ", "| ", "<", "keys ", "|"};

const Keyword* FindKeyword(std::string_view line) {
  for (const Keyword& keyword : kKeywords) {
    const bool is_whole = keyword.kind == Kind::kStop;
    if (is_whole ? line == keyword.text : line.starts_with(keyword.text)) return &keyword;
  }
  return nullptr;
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
    if (const Keyword* keyword = FindKeyword(line)) {
      Step step{.kind = keyword->kind,
                .text = line.substr(keyword->text.size()),
                .line = number,
                .expected = {},
                .expected_line = 0};
      while (step.text.ends_with('\\') && std::getline(file, line)) {
        ++number;
        step.text += "\n" + line;
      }
      step.expected_line = number + 1;
      takes_output = keyword->has_output && !suite.tests.empty();
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

std::string AsOutput(const std::string& line) {
  const bool is_ambiguous =
      IsComment(line) || line.starts_with(kTest) || FindKeyword(line) != nullptr ||
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
