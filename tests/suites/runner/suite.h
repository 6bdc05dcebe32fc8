#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Suites as text; tests/suites/README.md describes the format.
namespace suites {

struct Step {
  std::string keyword;                ///< "$", "copy$" and so on
  std::string text;                   ///< after the keyword
  std::size_t line;                   ///< in the file, from 1
  std::vector<std::string> expected;  ///< the lines below it
  std::size_t expected_line;          ///< of the first of them, or where it would be
};

struct Case {
  std::string name;  ///< a sentence
  std::size_t line;
  std::vector<Step> steps;
};

struct Suite {
  std::filesystem::path file;
  std::vector<Step> head;  ///< before each test
  std::vector<Case> tests;
};

/// Throws std::runtime_error with the file, the line and what is wrong with it.
Suite ReadSuite(const std::filesystem::path& file);

/// As a shell would, without variables: "a b" is one word. Throws std::runtime_error.
std::vector<std::string> Words(std::string_view text);

/// Replaces `from` where no letter, digit or "_" follows: "$A" is not in "$AB".
void ReplaceWord(std::string& text, std::string_view from, std::string_view to);

/// A line of a command's output as it stands in a suite: after "| " if it would mean something
/// else.
std::string AsOutput(const std::string& line);

/// `file` with the lines of `step` replaced. Those of later steps first.
void Rewrite(std::vector<std::string>& file, const Step& step,
             const std::vector<std::string>& lines);

}  // namespace suites
