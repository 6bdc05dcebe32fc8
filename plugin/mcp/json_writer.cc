#include "mcp/json_writer.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "support/utf8.h"

namespace mcp {
namespace {

using nlohmann::json;

/// What one byte becomes. Copied as a whole, since a copy of fixed size is one instruction; the
/// first `length` bytes count.
struct Escape {
  std::array<char, 8> text{};
  std::uint8_t length = 0;
};
static_assert(kLongestEscape <= sizeof(Escape::text));

using EscapeTable = std::array<Escape, 256>;

std::string EscapeOnce(const std::string& text) {
  const std::string quoted = json(text).dump();
  return quoted.substr(1, quoted.size() - 2);
}

EscapeTable MakeTable(Escaping escaping) {
  EscapeTable table;
  for (std::size_t byte = 0; byte < table.size(); ++byte) {
    std::string text(1, static_cast<char>(byte));
    if (byte < 0x80) text = EscapeOnce(text);  // the others are parts of characters
    if (byte < 0x80 && escaping == Escaping::kTwice) text = EscapeOnce(text);
    table.at(byte).length = static_cast<std::uint8_t>(text.size());
    std::copy(text.begin(), text.end(), table.at(byte).text.begin());
  }
  return table;
}

const EscapeTable& TableFor(Escaping escaping) {
  static const EscapeTable once = MakeTable(Escaping::kOnce);
  static const EscapeTable twice = MakeTable(Escaping::kTwice);
  return escaping == Escaping::kOnce ? once : twice;
}

constexpr std::size_t kWord = sizeof(std::uint64_t);

/// Whether no byte of `word` needs an escape. The usual bit tricks: may also be false by mistake.
bool IsPlain(std::uint64_t word) {
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  const std::uint64_t quotes = word ^ (kOnes * '"');
  const std::uint64_t backslashes = word ^ (kOnes * '\\');
  const std::uint64_t below_space = (word - kOnes * 0x20U) & ~word;
  const std::uint64_t is_quote = (quotes - kOnes) & ~quotes;
  const std::uint64_t is_backslash = (backslashes - kOnes) & ~backslashes;
  return ((below_space | is_quote | is_backslash) & kHighBits) == 0;
}

/// Writes to `to`, which has room for kLongestEscape bytes for each byte of `text` and one whole
/// Escape more. Returns the end of what it wrote.
char* WriteEscaped(char* to, std::string_view text, const EscapeTable& table) {
  const char* from = text.data();
  const char* const end = from + text.size();
  const auto escape_until = [&](const char* until) {
    for (; from != until; ++from) {
      const Escape& escape = table[static_cast<unsigned char>(*from)];
      std::memcpy(to, escape.text.data(), escape.text.size());
      to += escape.length;
    }
  };
  while (static_cast<std::size_t>(end - from) >= kWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, kWord);
    if (IsPlain(word)) {
      std::memcpy(to, from, kWord);
      from += kWord;
      to += kWord;
    } else {
      escape_until(from + kWord);
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
  // Pieces go through a buffer that stays in the processor's cache and has room for the worst case.
  constexpr std::size_t kPiece = 2048;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): read only as far as filled
  std::array<char, kPiece * kLongestEscape + sizeof(Escape::text)> buffer;
  const EscapeTable& table = TableFor(escaping);
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, kPiece);
    char* const end = WriteEscaped(buffer.data(), piece, table);
    out.append(buffer.data(), end);
    text.remove_prefix(piece.size());
  }
}

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  if (support::IsValidUtf8(text)) {
    AppendEscaped(out, text, Escaping::kOnce);
  } else {
    AppendEscaped(out, support::ToUtf8(text), Escaping::kOnce);
  }
  out += '"';
}

void AppendJson(std::string& out, const json& value) {
  if (value.is_string()) {
    AppendJsonString(out, value.get_ref<const std::string&>());
  } else if (value.is_object()) {
    ObjectWriter object(out);
    for (const auto& [key, member] : value.items()) object.Member(key, member);
    object.End();
  } else if (value.is_array()) {
    out += '[';
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (i > 0) out += ',';
      AppendJson(out, value[i]);
    }
    out += ']';
  } else {
    out += value.dump();
  }
}

std::string ToJson(const json& value) {
  std::string out;
  AppendJson(out, value);
  return out;
}

void ObjectWriter::Key(std::string_view key) {
  if (!first_) out_ += ',';
  first_ = false;
  AppendJsonString(out_, key);
  out_ += ':';
}

void ObjectWriter::Member(std::string_view key, const json& value) {
  Key(key);
  AppendJson(out_, value);
}

void ObjectWriter::Member(std::string_view key, std::string_view text) {
  Key(key);
  AppendJsonString(out_, text);
}

void ObjectWriter::RawMember(std::string_view key, std::string_view json) {
  Key(key);
  out_ += json;
}

std::string NotificationText(std::string_view method, std::string_view params) {
  return ObjectText([&](ObjectWriter& notification) {
    notification.Member("jsonrpc", std::string_view("2.0"));
    notification.Member("method", method);
    notification.RawMember("params", params);
  });
}

}  // namespace mcp
