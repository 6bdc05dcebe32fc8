#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "find/find_listing.h"

/// The script behind ListTrees, and the form of what it prints.
///
/// Standard output: records that end with "//\n", which no path that find prints can hold:
///   "walk"                         the next request begins
///   "failed <text>"                what find said of names that it was not permitted to look at,
///                                  lines of the form "find: './a': Permission denied"
///   "<time> <type> <size> ./a/b"   a name; the time in seconds with or without a fraction, the
///                                  type find's letter, or 'x' and the hexadecimal st_mode
/// Standard error: records that end with NUL:
///   "/<number of the request> ./a" git's answer for the repository in ./a begins
///   "b/", "c"                      ignored names, relative to ./a
namespace find {

inline constexpr std::string_view kListingRecordEnd = "//\n";
inline constexpr std::string_view kListingWalkBegins = "walk";
inline constexpr std::string_view kListingFailed = "failed ";

/// Exit status when there is neither GNU's find, nor one beside a stat command.
inline constexpr int kNoFindStatus = 97;

/// Exit statuses from this one on: a find was ended by a signal, and what it has told is not all.
inline constexpr int kFirstSignalStatus = 128;

std::string FindScript(const std::vector<ListingRequest>& requests);

}  // namespace find
