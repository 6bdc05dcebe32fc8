#pragma once

#include <cstddef>
#include <cstdint>

/// Which bytes mean themselves inside a JSON string, for those who escape and those who unescape:
/// all but '"', '\\' and what lies below the space (RFC 8259, section 7). Eight at a time.
namespace mcp {

inline constexpr std::size_t kPlainWord = sizeof(std::uint64_t);

/// Whether all bytes of `word`, as copied from memory, mean themselves; false also for a few of
/// which they do. The usual tests for a byte that is zero or below n.
inline bool AllPlain(std::uint64_t word) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  const std::uint64_t quotes = word ^ (kOnes * '"');
  const std::uint64_t backslashes = word ^ (kOnes * '\\');
  const std::uint64_t below_space = (word - kOnes * 0x20U) & ~word;
  const std::uint64_t is_quote = (quotes - kOnes) & ~quotes;
  const std::uint64_t is_backslash = (backslashes - kOnes) & ~backslashes;
  return ((below_space | is_quote | is_backslash) & kHighBits) == 0;
}

}  // namespace mcp
