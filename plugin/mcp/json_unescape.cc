#include "mcp/json_unescape.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <utility>

#include "mcp/json_plain.h"
#include "support/utf8.h"

namespace mcp {
namespace {

/// What stands for one character behind a backslash, except for 'u'; 0 for what does not.
char Meaning(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

constexpr std::size_t kHexDigits = 4;
constexpr std::size_t kLongestCharacter = 4;  // in UTF-8

/// The four hexadecimal digits at the beginning of `text`.
std::optional<std::uint32_t> CodeUnit(std::string_view text) {
  std::uint32_t unit = 0;
  const char* const begin = text.data();
  if (text.size() < kHexDigits) return std::nullopt;
  const auto [end, error] = std::from_chars(begin, begin + kHexDigits, unit, 16);
  if (error != std::errc() || end != begin + kHexDigits) return std::nullopt;
  return unit;
}

bool IsHighSurrogate(std::uint32_t unit) {
  return unit >= 0xD800 && unit <= 0xDBFF;
}
bool IsLowSurrogate(std::uint32_t unit) {
  return unit >= 0xDC00 && unit <= 0xDFFF;
}

/// Takes what stands behind "\u", two units where they belong together.
std::optional<std::uint32_t> TakeCodePoint(std::string_view& rest) {
  const std::optional<std::uint32_t> unit = CodeUnit(rest);
  if (!unit || IsLowSurrogate(*unit)) return std::nullopt;
  rest.remove_prefix(kHexDigits);
  if (!IsHighSurrogate(*unit)) return unit;
  if (!rest.starts_with("\\u")) return std::nullopt;
  const std::optional<std::uint32_t> low = CodeUnit(rest.substr(2));
  if (!low || !IsLowSurrogate(*low)) return std::nullopt;
  rest.remove_prefix(2 + kHexDigits);
  return 0x10000U + ((*unit - 0xD800U) << 10U) + (*low - 0xDC00U);
}

/// Writes UTF-8, at most four bytes; returns its end.
char* WriteUtf8(char* to, std::uint32_t point) {
  const auto put = [&to](std::uint32_t byte) { *to++ = static_cast<char>(byte); };
  const auto put_rest = [&](int bytes) {
    while (bytes-- > 0) put(0x80U | ((point >> (6U * static_cast<unsigned>(bytes))) & 0x3FU));
  };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0U | (point >> 6U));
    put_rest(1);
  } else if (point < 0x10000) {
    put(0xE0U | (point >> 12U));
    put_rest(2);
  } else {
    put(0xF0U | (point >> 18U));
    put_rest(3);
  }
  return to;
}

/// Takes the next character, which may be escaped, and writes at most four bytes; returns their
/// end, null when it may not stand there.
char* UnescapeOne(char* to, std::string_view& rest) {
  const char c = rest.front();
  rest.remove_prefix(1);
  if (c != '\\') {
    if (c == '"' || static_cast<unsigned char>(c) < 0x20) return nullptr;
    *to = c;
    return to + 1;
  }
  if (rest.empty()) return nullptr;
  const char letter = rest.front();
  rest.remove_prefix(1);
  if (letter == 'u') {
    const std::optional<std::uint32_t> point = TakeCodePoint(rest);
    return point ? WriteUtf8(to, *point) : nullptr;
  }
  *to = Meaning(letter);
  return *to == 0 ? nullptr : to + 1;
}

/// Copies the next eight bytes if they mean themselves.
bool TakePlainWord(char* to, std::string_view& rest) {
  std::uint64_t word = 0;
  std::memcpy(&word, rest.data(), kPlainWord);
  if (!AllPlain(word)) return false;
  std::memcpy(to, rest.data(), kPlainWord);
  rest.remove_prefix(kPlainWord);
  return true;
}

/// The closing quote of the string whose first byte is at `begin`; npos when there is none.
std::size_t FindClosingQuote(std::string_view json, std::size_t begin) {
  for (std::size_t quote = json.find('"', begin); quote != std::string_view::npos;
       quote = json.find('"', quote + 1)) {
    std::size_t backslashes = 0;
    while (quote - backslashes > begin && json[quote - backslashes - 1] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return quote;
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<std::string> Unescape(std::string_view escaped) {
  std::string text;
  // An escape is never shorter than what it means.
  text.reserve(escaped.size());
  // In pieces, through a buffer which stays in the processor's cache.
  constexpr std::size_t kPiece = 2048;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): read only as far as filled
  std::array<char, kPiece + kPlainWord * kLongestCharacter> buffer;
  while (!escaped.empty()) {
    char* to = buffer.data();
    while (to < buffer.data() + kPiece && !escaped.empty()) {
      const std::size_t next = std::min(escaped.size(), kPlainWord);
      if (next == kPlainWord && TakePlainWord(to, escaped)) {
        to += kPlainWord;
        continue;
      }
      for (const char* const behind = escaped.data() + next;
           !escaped.empty() && escaped.data() < behind;) {
        to = UnescapeOne(to, escaped);
        if (to == nullptr) return std::nullopt;
      }
    }
    text.append(buffer.data(), to);
  }
  // Escapes mean whole characters and cannot mend what is broken beside them.
  if (!support::IsValidUtf8(text)) return std::nullopt;
  return text;
}

std::optional<MendedText> MendHalfPairs(std::string_view json) {
  std::optional<MendedText> mended;
  for (std::size_t at = json.find('\\'); at != std::string_view::npos; at = json.find('\\', at)) {
    std::string_view rest = json.substr(at + 1);
    if (!rest.starts_with('u') || !CodeUnit(rest.substr(1))) {
      at = std::min(at + 2, json.size());  // what it escapes may be a backslash
      continue;
    }
    rest.remove_prefix(1);
    const std::size_t digits = json.size() - rest.size();
    if (TakeCodePoint(rest)) {
      at = json.size() - rest.size();
      continue;
    }
    if (!mended) mended = MendedText{std::string(json), at};
    mended->text.replace(digits, kHexDigits, "fffd");
    at = digits + kHexDigits;
  }
  return mended;
}

std::vector<LongString> FindLongStrings(std::string_view json) {
  std::vector<LongString> found;
  for (std::size_t open = json.find('"'); open != std::string_view::npos;) {
    const std::size_t begin = open + 1;
    const std::size_t end = FindClosingQuote(json, begin);
    if (end == std::string_view::npos) break;
    if (end - begin >= kLongString) {
      if (auto text = Unescape(json.substr(begin, end - begin))) {
        found.push_back({begin, end, *std::move(text)});
      }
    }
    open = json.find('"', end + 1);
  }
  return found;
}

}  // namespace mcp
