#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Expected lines against those that came.
namespace suites {

/// Whether `pattern`, where `<*>` stands for any text, matches all of `text`.
bool Matches(std::string_view pattern, std::string_view text);

struct Change {
  char mark;         ///< ' ': as expected, '-': missing, '+': not expected
  std::string line;  ///< as expected, if it was
};

/// The fewest changes from `expected` to `came`. A line that is `<*>` stands for any number of
/// lines.
std::vector<Change> Compare(const std::vector<std::string>& expected,
                            const std::vector<std::string>& came);

bool AreSame(const std::vector<Change>& changes);

/// The marks and the lines.
std::string Diff(const std::vector<Change>& changes);

/// What came, with the patterns of the expected lines that match.
std::vector<std::string> Rewritten(const std::vector<Change>& changes);

/// The lines of `text`. Control characters and invalid UTF-8 become `\xHH`; a last line
/// without its end gets kNoNewline.
std::vector<std::string> PrintableLines(std::string_view text);
inline constexpr std::string_view kNoNewline = " (no newline)";

}  // namespace suites
