#pragma once

#include <string>
#include <vector>

#include "find/grep_output.h"
#include "find/include_filter.h"
#include "guest/guest.h"
#include "support/context.h"

/// Searches with `git grep -n --no-index` in the guest.
namespace find {

struct GitGrepRequest {
  std::string directory;               ///< resolved by the guest; names are printed relative to it
  std::string pattern;                 ///< not empty, one line
  std::vector<std::string> pathspecs;  ///< not empty
  /// False: also what git ignores. True: without it, unless `directory` lies in an ignored one.
  bool exclude_ignored = true;
  /// Decides which files count, and nothing: all that the pathspecs let through. git's own matching
  /// differs (its `?` is a byte), so the pathspecs only save it work.
  const IncludeFilter* include = nullptr;
};

/// Bytes kept of what git says on standard error.
inline constexpr std::size_t kMaximumGitWords = 4096;

struct GitGrepResult {
  bool has_git = true;   ///< false: nothing was searched
  std::string warnings;  ///< what git said beside its output, such as files it could not read
};

/// Adds the matching lines to `output`. Perl-compatible regular expressions, or, where the guest's
/// git lacks them, extended ones (one more round trip). A repository whose configuration git cannot
/// read counts as no repository (likewise).
/// Throws support::CallError with git's words when git fails, a bad pattern included.
GitGrepResult GitGrep(guest::Guest& guest, const GitGrepRequest& request, GrepOutput& output,
                      const support::Context& context);

}  // namespace find
