#pragma once

#include <cstddef>
#include <string>

#include "find/find_listing.h"
#include "find/grep_output.h"
#include "find/include_filter.h"
#include "guest/guest.h"
#include "support/context.h"

/// Searches without git: reads the files and matches them here, with RE2.
namespace find {

/// Bytes of a file; larger ones are not searched, but counted.
inline constexpr std::size_t kMaximumScannedFile = std::size_t{8} << 20;

/// Steps that matching one line may take: its bytes times the size of the compiled pattern, which
/// is what RE2 needs at worst. Nothing stops it within a line, and this many take less than a
/// minute; a pattern of 512 instructions passes for every file.
inline constexpr std::size_t kMaximumMatchSteps = std::size_t{1} << 32;

struct ScanRequest {
  std::string directory;  ///< resolved by the guest; names are printed relative to it
  std::string file;       ///< a name in `directory` to search alone; empty: all below it
  std::string pattern;    ///< RE2's syntax
  const IncludeFilter* include = nullptr;  ///< nothing: all files
};

struct ScanResult {
  std::size_t too_large = 0;   ///< files above kMaximumScannedFile
  std::size_t too_long = 0;    ///< lines that would take more than kMaximumMatchSteps
  std::size_t unreadable = 0;  ///< files that the guest would not open or read
  ListingGaps gaps;            ///< directories likewise
};

/// Adds the matching lines to `output`, as `git grep -n` prints them and in its order: files sorted
/// by path. As there, `.git` and files with a NUL in their first 8,000 bytes are left out, and
/// links are not followed, what has become one since the listing neither. What git would ignore is
/// searched too. Round trips: one for the list of files, then three for each, as read_file takes
/// (Guest::FindRealFile, OpenRegularFile). Throws support::CallError for a bad pattern, with
/// RE2's words.
ScanResult ScanFiles(guest::Guest& guest, const ScanRequest& request, GrepOutput& output,
                     const support::Context& context);

}  // namespace find
