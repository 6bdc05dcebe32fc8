#include "find/glob_class.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <vector>

#include "find/glob_error.h"

namespace find {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

struct NamedClass {
  std::string_view name;
  std::vector<Range> ranges;
};

/// POSIX.1-2017 XBD 7.3.1, the characters of the POSIX locale.
const std::vector<NamedClass>& NamedClasses() {
  static const std::vector<NamedClass> classes = {
      {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
      {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
      {"blank", {{' ', ' '}, {'\t', '\t'}}},
      {"cntrl", {{0, 31}, {127, 127}}},
      {"digit", {{'0', '9'}}},
      {"graph", {{33, 126}}},
      {"lower", {{'a', 'z'}}},
      {"print", {{32, 126}}},
      {"punct", {{33, 47}, {58, 64}, {91, 96}, {123, 126}}},
      {"space", {{9, 13}, {' ', ' '}}},
      {"upper", {{'A', 'Z'}}},
      {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}},
  };
  return classes;
}

std::string Escaped(char32_t character) {
  std::array<char, 8> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                 static_cast<std::uint32_t>(character), 16);
  return "\\x{" + std::string(digits.data(), end.ptr) + "}";
}

/// Without '/', which no class may match.
void AppendRange(std::string& regex, Range range) {
  if (range.first <= U'/' && U'/' <= range.last) {
    if (range.first < U'/') AppendRange(regex, {range.first, U'/' - 1});
    if (U'/' < range.last) AppendRange(regex, {U'/' + 1, range.last});
    return;
  }
  regex += Escaped(range.first) + "-" + Escaped(range.last);
}

class ClassParser {
 public:
  ClassParser(std::string_view pattern, std::size_t at) : pattern_(pattern), start_(at), at_(at) {}

  std::string Parse() {
    ++at_;
    const bool negated = Peek() == '!' || Peek() == '^';
    if (negated) ++at_;
    bool first = true;
    while (first || Peek() != ']') {
      ParseItem();
      first = false;
    }
    ++at_;
    std::string inside;
    for (const Range& range : ranges_) AppendRange(inside, range);
    return negated ? "[^/" + inside + "]" : "[" + inside + "]";
  }

  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  char Peek(std::size_t ahead = 0) const {
    if (at_ + ahead >= pattern_.size() || pattern_[at_] == '/') {
      ThrowGlobError(pattern_, start_, "'[' without ']' in the same name; write \\[ for a bracket");
    }
    return pattern_[at_ + ahead];
  }

  void ParseItem() {
    const std::size_t item = at_;
    if (Peek() == '[' && at_ + 1 < pattern_.size() && pattern_[at_ + 1] == ':' && ParseNamed()) {
      return;
    }
    const char32_t low = ParseCharacter();
    if (Peek() != '-' || Peek(1) == ']') {
      ranges_.push_back({low, low});
      return;
    }
    ++at_;
    const char32_t high = ParseCharacter();
    if (high < low) ThrowGlobError(pattern_, item, "the range runs backwards");
    ranges_.push_back({low, high});
  }

  /// False when what looked like `[:name:]` has no end: then it is characters.
  bool ParseNamed() {
    const std::size_t end = pattern_.find(":]", at_ + 2);
    if (end == std::string_view::npos) return false;
    const std::string_view name = pattern_.substr(at_ + 2, end - at_ - 2);
    if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz") != std::string_view::npos) {
      return false;
    }
    for (const NamedClass& named : NamedClasses()) {
      if (named.name != name) continue;
      ranges_.insert(ranges_.end(), named.ranges.begin(), named.ranges.end());
      at_ = end + 2;
      return true;
    }
    ThrowGlobError(pattern_, at_, "there is no class [:" + std::string(name) + ":]");
  }

  char32_t ParseCharacter() {
    if (Peek() == '\\') {
      ++at_;
      Peek();
    }
    const auto lead = static_cast<unsigned char>(Peek());
    ++at_;
    if (lead < 0x80) return lead;
    const std::size_t continuations = lead >= 0xF0 ? 3U : lead >= 0xE0 ? 2U : 1U;
    char32_t character = lead & (0x3FU >> continuations);
    for (std::size_t i = 0; i < continuations; ++i) {
      const auto byte = static_cast<unsigned char>(Peek());
      if ((byte & 0xC0U) != 0x80U) ThrowGlobError(pattern_, at_, "it is not valid UTF-8");
      character = (character << 6U) | (byte & 0x3FU);
      ++at_;
    }
    return character;
  }

  std::string_view pattern_;
  std::size_t start_;
  std::size_t at_;
  std::vector<Range> ranges_;
};

}  // namespace

std::string ParseGlobClass(std::string_view pattern, std::size_t& at) {
  ClassParser parser(pattern, at);
  std::string regex = parser.Parse();
  at = parser.at();
  return regex;
}

}  // namespace find
