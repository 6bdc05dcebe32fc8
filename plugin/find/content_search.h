#pragma once

#include <cstddef>
#include <string>

#include "find/grep_output.h"
#include "find/include_filter.h"
#include "guest/guest.h"
#include "support/context.h"

/// Searches files in the guest for a regular expression.
namespace find {

struct SearchRequest {
  std::string directory;  ///< resolved by the guest; names are printed relative to it
  /// A name in `directory`, searched alone, also if git ignores it. Empty: everything below.
  std::string file = {};
  std::string pattern;                     ///< not empty, one line
  const IncludeFilter* include = nullptr;  ///< null: all files
};

/// Bytes kept of the guest's standard error.
inline constexpr std::size_t kMaximumWarnings = 4096;

struct SearchResult {
  bool has_git = true;
  std::string warnings;  ///< of git or grep, such as the names of files that could not be read
};

/// Adds the matching lines to `output`, with `git grep --no-index`: Perl-compatible expressions or,
/// if the guest's git lacks them, extended ones (one more round trip). Files that git ignores are
/// left out, unless `directory` lies in an ignored one. A repository whose configuration git cannot
/// read counts as none (likewise).
///
/// Without git, with `grep -E` over what `find` lists (likewise): ignore files do not count, and
/// `.` is one byte. BusyBox's grep also searches binary files. A name that contains a line break,
/// or ":1:", may be printed or filtered wrongly.
///
/// Throws support::CallError with the words of git or grep if they fail, as with a bad pattern.
SearchResult SearchContent(guest::Guest& guest, const SearchRequest& request, GrepOutput& output,
                           const support::Context& context);

}  // namespace find
