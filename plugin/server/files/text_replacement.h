// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/context.h"

/// Finds and replaces text in a file's bytes, in any encoding. Of two occurrences that overlap,
/// only the first counts. Takes linear time. Throws support::Stopped when the context is stopped.
///
/// Line ends: a lone LF in the sought text also matches CRLF, but one match must not mix the two. A
/// match with CRLF is replaced with CRLF in place of LF. If the sought text has no LF, the
/// replacement uses CRLF if all of the file's lines do.
namespace files {

/// Line numbers listed at most; further occurrences are only counted.
inline constexpr std::size_t kMaxListedLines = 20;

struct Occurrences {
  std::uint64_t count = 0;
  std::size_t first = 0;             ///< position of the first one, in bytes
  std::vector<std::uint64_t> lines;  ///< lines of the first ones, from 1, without duplicates
};

/// `sought` must not be empty.
Occurrences FindOccurrences(std::string_view text, std::string_view sought,
                            const support::Context& context);

struct ReplacedText {
  std::string text;
  std::uint64_t replacements = 0;
};

/// Replaces all occurrences. `sought` must not be empty. Returns nullopt if the result would be
/// longer than `maximum_size` bytes.
std::optional<ReplacedText> ReplaceOccurrences(std::string_view text, std::string_view sought,
                                               std::string_view replacement,
                                               std::size_t maximum_size,
                                               const support::Context& context);

}  // namespace files
