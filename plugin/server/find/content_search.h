// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "find/glob.h"
#include "guest/guest.h"
#include "shell/output_log.h"
#include "support/context.h"

/// Searches files in the guest for a regular expression.
namespace find {

struct SearchRequest {
  std::string directory = {};  ///< resolved by the guest; names are printed relative to it
  /// A name in `directory`, searched alone, also if git ignores it. Empty: everything below.
  std::string file = {};
  std::string pattern = {};                ///< not empty, one line
  const IncludeFilter* include = nullptr;  ///< null: all files
  std::size_t maximum_output_bytes = shell::kOutputLimit;

  bool case_sensitive = true;
  bool fixed_strings = false;               ///< the pattern is no expression
  std::size_t before = 0;                   ///< lines of context before a match
  std::size_t after = 0;                    ///< and after it
  bool names_only = false;                  ///< names of files with matches, without context
  bool no_ignore = false;                   ///< also search what git ignores
  std::size_t maximum_per_file = kNoLimit;  ///< matching lines
  std::size_t maximum_total = kNoLimit;     ///< matching lines or, if `names_only`, files

  static constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

  [[nodiscard]] bool has_context() const { return !names_only && before + after > 0; }
};

/// Bytes of one line's text that are printed; minified files have lines of megabytes.
inline constexpr std::size_t kMaxGrepLine = std::size_t{16} << 10;

/// Bytes kept of the guest's standard error.
inline constexpr std::size_t kMaxWarnings = 4096;

struct SearchResult {
  /// As `git grep -n` prints them ("name:12:text"), sorted by name: the first lines and, if lines
  /// are missing, a last one with the totals. Of a long line the first bytes, and how many follow.
  /// Lines of context are "name-12-text", with "--" between groups. Or names alone. Names are
  /// support::Printable, but for tabs.
  std::string lines;
  std::string warnings;  ///< of git, such as the names of files that could not be read
};

/// Whether a regular expression only matches with a line break (`a\nb`, `\R`), so that no line
/// does. Excluding or allowing one is fine: `[^\n]`, `\n?`.
bool NeedsLineBreak(std::string_view expression);

/// Finds matching lines with `git grep` in text files that git tracks or does not ignore; in all if
/// `directory` lies in an ignored one. Each repository below has its own rules. What is binary is
/// decided by content.
///
/// Searches again with extended expressions if the guest's git lacks Perl-compatible ones, and
/// without large files, which `warnings` names, if it cannot hold one in memory. Throws
/// support::Error if there is no git.
///
/// The limits of matches only cut the result: all files are searched, so that all are counted.
///
/// Memory is bounded by maximum_output_bytes and one line. Throws support::Error with the error
/// text of git if it fails, as with a bad pattern.
SearchResult SearchContent(guest::Guest& guest, const SearchRequest& request,
                           const support::Context& context);

}  // namespace find
