// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Suites as text; tests/suites/README.md describes the format.
namespace suites {

using Lines = std::vector<std::string>;

struct Step {
  std::string keyword;             ///< "$", "copy$" and so on
  std::string text;                ///< after the keyword
  std::size_t line;                ///< in the file, from 1
  std::size_t end = 0;             ///< the line after its text, from 1
  Lines expected = {};             ///< the lines below it
  std::optional<Lines> came = {};  ///< what will stand there after a rewrite
};

struct Case {
  std::string name;  ///< a sentence
  std::vector<Step> steps = {};
};

struct Suite {
  std::filesystem::path file;
  Lines lines = {};
  std::vector<Step> head = {};  ///< before each test
  std::vector<Case> tests = {};
};

/// Throws std::runtime_error with the file, the line and what is wrong with it.
Suite ReadSuite(const std::filesystem::path& file);

/// Writes the file again, with what came.
void Rewrite(const Suite& suite);

/// "a b" is one word.
Lines Words(const std::string& text);

/// Replaces `from` where no letter, digit or "_" follows: "$A" is not in "$AB".
void ReplaceWord(std::string& text, std::string_view from, std::string_view to);

/// A line of a command's output as it stands in a suite: after "| " if it would mean something
/// else.
std::string AsOutput(const std::string& line);

/// The lines of `text` after `mark`. Control characters and invalid UTF-8 become `\xHH`; a last
/// line without its end gets " (no newline)".
Lines PrintableLines(const std::string& text, const std::string& mark = "");

struct Comparison {
  bool is_same;
  std::string diff;  ///< the lines, after "- " if they did not come, "+ " if they were not expected
  Lines rewritten;   ///< what came, with the expected lines that fit
};

/// Finds the fewest differences. In an expected line `<*>` stands for any text, and alone for any
/// number of lines. The diff has the expected lines as `written`.
Comparison Compare(const Lines& expected, const Lines& came, const Lines& written);

}  // namespace suites
