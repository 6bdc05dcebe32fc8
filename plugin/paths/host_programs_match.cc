#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>

#include "paths/host_programs.h"
#include "support/utf8.h"

namespace paths {
namespace {

struct Folding {
  std::string_view first;
  std::string_view last;
  std::string_view folded;
};

/// The characters that are ignored, or fold to ASCII. UTF-8 sorts like code points.
constexpr std::array kFoldings = {
    Folding{"\u00ad", "\u00ad", ""},         Folding{"\u00df", "\u00df", "ss"},
    Folding{"\u017f", "\u017f", "s"},        Folding{"\u1e9e", "\u1e9e", "ss"},
    Folding{"\u200b", "\u200f", ""},         Folding{"\u202a", "\u202e", ""},
    Folding{"\u2060", "\u206f", ""},         Folding{"\u212a", "\u212a", "k"},
    Folding{"\ufb00", "\ufb00", "ff"},       Folding{"\ufb01", "\ufb01", "fi"},
    Folding{"\ufb02", "\ufb02", "fl"},       Folding{"\ufb03", "\ufb03", "ffi"},
    Folding{"\ufb04", "\ufb04", "ffl"},      Folding{"\ufb05", "\ufb06", "st"},
    Folding{"\ufe00", "\ufe0f", ""},         Folding{"\ufeff", "\ufeff", ""},
    Folding{"\U000e0000", "\U000e0fff", ""},
};

/// Leaves the case of ASCII letters to fnmatch().
std::string FoldName(std::string_view name) {
  std::string folded;
  while (!name.empty()) {
    const auto length = std::max<std::size_t>(1, support::FirstCharacterLength(name));
    const std::string_view character = name.substr(0, length);
    const auto* found = std::find_if(kFoldings.begin(), kFoldings.end(), [&](const Folding& one) {
      return one.first <= character && character <= one.last;
    });
    folded += found == kFoldings.end() ? character : found->folded;
    name.remove_prefix(length);
  }
  folded.resize(std::min(folded.size(), folded.find(':')));
  folded.erase(folded.find_last_not_of(" .") + 1);
  return fnmatch("git~1", folded.c_str(), FNM_CASEFOLD) == 0 ? ".git" : folded;
}

struct Pattern {
  std::string text;
  const HostProgram* row;
  int flags = FNM_CASEFOLD | FNM_PATHNAME;
  bool is_at_top = false;
};

std::vector<Pattern> ParsePatterns() {
  std::vector<Pattern> patterns;
  for (const HostProgram& row : HostPrograms()) {
    std::istringstream words{std::string(row.patterns)};
    for (Pattern pattern{"", &row}; words >> pattern.text; pattern = {"", &row}) {
      if (pattern.text.ends_with('/')) {
        pattern.flags |= FNM_LEADING_DIR;
        pattern.text.pop_back();
      }
      pattern.is_at_top = pattern.text.starts_with('/');
      if (pattern.is_at_top) pattern.text.erase(0, 1);
      patterns.push_back(std::move(pattern));
    }
  }
  return patterns;
}

}  // namespace

std::vector<HostMatch> MatchHostPrograms(std::string_view path) {
  static const std::vector<Pattern> patterns = ParsePatterns();
  std::vector<HostMatch> matches;
  std::string rest;  // the folded names from `start` on
  for (std::size_t end = path.size(), start = 0; end > 0; end = start > 0 ? start - 1 : 0) {
    start = path.substr(0, end).rfind('/') + 1;  // 0 without a slash
    rest = FoldName(path.substr(start, end - start)) + (rest.empty() ? "" : "/") + rest;
    for (const Pattern& pattern : patterns) {
      if (pattern.is_at_top && start > 0) continue;
      if (fnmatch(pattern.text.c_str(), rest.c_str(), pattern.flags) != 0) continue;
      if (!matches.empty() && matches.back().row == pattern.row &&
          matches.back().above.size() == start) {
        continue;
      }
      matches.push_back({pattern.row, path.substr(0, start)});
    }
  }
  return matches;
}

}  // namespace paths
