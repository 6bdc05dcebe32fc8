#include "mcp/json_escape.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "mcp/json_plain.h"

namespace mcp {
namespace {

/// What one byte becomes. Always copied as a whole, because a copy of a known size is one
/// instruction; `length` bytes of it count.
struct Escape {
  std::array<char, 8> text{};
  std::uint8_t length = 0;
};
static_assert(kLongestEscape <= sizeof(Escape::text));

using EscapeTable = std::array<Escape, 256>;

constexpr void Put(Escape& escape, char c) {
  escape.text.at(escape.length++) = c;
}

constexpr Escape EscapeOnce(unsigned char byte) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kLetters = "btn?fr";  // for 0x08 to 0x0d; 0x0b has none
  Escape escape;
  if (byte >= 0x20 && byte != '"' && byte != '\\') {
    Put(escape, static_cast<char>(byte));
    return escape;
  }
  Put(escape, '\\');
  if (byte >= 0x20) {
    Put(escape, static_cast<char>(byte));
  } else if (byte >= 0x08 && byte <= 0x0d && byte != 0x0b) {
    Put(escape, kLetters.at(byte - 0x08U));
  } else {
    for (const char c : {'u', '0', '0', kHex.at(byte >> 4U), kHex.at(byte & 0xFU)}) Put(escape, c);
  }
  return escape;
}

constexpr EscapeTable MakeTable(Escaping escaping) {
  EscapeTable table;
  for (std::size_t byte = 0; byte < table.size(); ++byte) {
    const Escape once = EscapeOnce(static_cast<unsigned char>(byte));
    Escape& entry = table.at(byte);
    if (escaping == Escaping::kOnce) {
      entry = once;
      continue;
    }
    for (std::size_t i = 0; i < once.length; ++i) {
      const Escape again = EscapeOnce(static_cast<unsigned char>(once.text.at(i)));
      for (std::size_t j = 0; j < again.length; ++j) Put(entry, again.text.at(j));
    }
  }
  return table;
}

constexpr EscapeTable kOnce = MakeTable(Escaping::kOnce);
constexpr EscapeTable kTwice = MakeTable(Escaping::kTwice);

/// Writes to `to`, which has room for kLongestEscape bytes for each of `text` and for one whole
/// Escape behind; returns the end of what was written.
char* Write(char* to, std::string_view text, const EscapeTable& table) {
  const char* from = text.data();
  const char* const end = from + text.size();
  const auto escape_until = [&](const char* until) {
    for (; from != until; ++from) {
      const Escape& escape = table[static_cast<unsigned char>(*from)];
      std::memcpy(to, escape.text.data(), escape.text.size());
      to += escape.length;
    }
  };
  while (static_cast<std::size_t>(end - from) >= kPlainWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, kPlainWord);
    if (AllPlain(word)) {
      std::memcpy(to, from, kPlainWord);
      from += kPlainWord;
      to += kPlainWord;
    } else {
      escape_until(from + kPlainWord);
    }
  }
  escape_until(end);
  return to;
}

}  // namespace

void AppendEscaped(std::string& out, std::string_view text, Escaping escaping) {
  if (escaping == Escaping::kNone) {
    out += text;
    return;
  }
  // In pieces, through a buffer which stays in the processor's cache and has room for the worst.
  constexpr std::size_t kPiece = 2048;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): read only as far as filled
  std::array<char, kPiece * kLongestEscape + sizeof(Escape::text)> buffer;
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, kPiece);
    char* const end = Write(buffer.data(), piece, escaping == Escaping::kOnce ? kOnce : kTwice);
    out.append(buffer.data(), end);
    text.remove_prefix(piece.size());
  }
}

}  // namespace mcp
