#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

/// Which bytes mean themselves inside a JSON string, for those who escape and those who unescape:
/// all but '"', '\' and what lies below the space (RFC 8259, section 7). Eight at a time.
namespace mcp {

inline constexpr std::size_t kPlainWord = sizeof(std::uint64_t);

/// How many bytes of `word`, as copied from memory, mean themselves before the first that does not.
/// Where the most significant byte comes first, 0 instead of what lies between 0 and kPlainWord:
/// whoever is told less than kPlainWord looks at one byte by itself and goes on behind it.
inline std::size_t PlainBytes(std::uint64_t word) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  // The usual tests for bytes that are zero or below n. They may be wrong about a byte only above
  // one about which they are right.
  const std::uint64_t quotes = word ^ (kOnes * '"');
  const std::uint64_t backslashes = word ^ (kOnes * '\\');
  const std::uint64_t below_space = (word - kOnes * 0x20U) & ~word;
  const std::uint64_t is_quote = (quotes - kOnes) & ~quotes;
  const std::uint64_t is_backslash = (backslashes - kOnes) & ~backslashes;
  const std::uint64_t special = (below_space | is_quote | is_backslash) & kHighBits;
  if (special == 0) return kPlainWord;
  if constexpr (std::endian::native == std::endian::little) {
    return static_cast<std::size_t>(std::countr_zero(special)) / 8;
  }
  return 0;
}

}  // namespace mcp
