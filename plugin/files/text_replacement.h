#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Finding and replacing a piece of a file's text, byte by byte: whatever the encoding, nothing
/// but what is found changes.
///
/// Line ends: an LF of the text sought that has no CR before it also stands for CRLF, all through
/// one match or not at all. What is found so is replaced with CRLF in place of such LFs. A text
/// sought without any LF takes the line ends of the file: CRLF where all of them are.
///
/// Time is linear in the length of the texts, whatever they hold.
namespace files {

/// How many line numbers are listed; the rest is only counted.
inline constexpr std::size_t kMaximumListedLines = 20;

struct Occurrences {
  std::uint64_t count = 0;           ///< overlapping ones too: each is a place that may be meant
  std::vector<std::uint64_t> lines;  ///< where the first ones begin, counted from 1, each once
};

/// `sought` must not be empty.
Occurrences FindOccurrences(std::string_view text, std::string_view sought);

struct ReplacedText {
  std::string text;
  std::uint64_t replacements = 0;
};

/// Replaces all occurrences from left to right; of two that overlap, the first. `sought` must not
/// be empty. Nothing when the result would be longer than `maximum_size` bytes.
std::optional<ReplacedText> ReplaceOccurrences(std::string_view text, std::string_view sought,
                                               std::string_view replacement,
                                               std::size_t maximum_size);

}  // namespace files
