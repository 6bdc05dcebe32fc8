#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Finding and replacing a piece of a file's text, byte by byte and in any encoding.
///
/// Line ends: an LF in the sought text without a CR before it also matches CRLF, but then in all
/// places of one match. Such a match is replaced with CRLF in place of LF. A sought text without
/// any LF takes the line ends of the file: CRLF if all of them are.
namespace files {

/// How many line numbers are listed; further occurrences are only counted.
inline constexpr std::size_t kMaximumListedLines = 20;

struct Occurrences {
  std::uint64_t count = 0;           ///< overlapping ones too: each may be the intended one
  std::vector<std::uint64_t> lines;  ///< of the first ones, counted from 1, each line once
};

/// `sought` must not be empty.
Occurrences FindOccurrences(std::string_view text, std::string_view sought);

struct ReplacedText {
  std::string text;
  std::uint64_t replacements = 0;
};

/// Replaces all occurrences from left to right; of two that overlap, the first. `sought` must not
/// be empty. Returns nothing if the result would be longer than `maximum_size` bytes.
std::optional<ReplacedText> ReplaceOccurrences(std::string_view text, std::string_view sought,
                                               std::string_view replacement,
                                               std::size_t maximum_size);

}  // namespace files
