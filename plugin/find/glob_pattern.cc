#include "find/glob_pattern.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "support/errors.h"
#include "support/utf8.h"

namespace find {
namespace {

using Kind = GlobPart::Kind;
using Sequence = std::vector<GlobPart>;

/// More filters slow find down.
constexpr std::size_t kMaximumNameFilters = 32;

/// Parses a pattern and expands its braces on the way, so that the limits stop it early.
class Parser {
 public:
  explicit Parser(std::string_view pattern) : pattern_(pattern) {}

  std::vector<Sequence> Parse() { return ParseStretch(0); }

 private:
  /// Inside braces (`depth` > 0), stops before the ',' or '}' that ends the alternative.
  std::vector<Sequence> ParseStretch(std::size_t depth) {
    std::vector<Sequence> expansions(1);
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_];
      if (depth > 0 && (c == ',' || c == '}')) break;
      if (c == '{') {
        expansions = Combine(expansions, ParseBraces(depth + 1));
      } else {
        const GlobPart part = ParsePart();
        for (Sequence& expansion : expansions) expansion.push_back(part);
      }
      CheckSize(expansions.size(), CountParts(expansions));
    }
    return expansions;
  }

  std::vector<Sequence> ParseBraces(std::size_t depth) {
    const std::size_t start = ++at_;
    if (depth > kMaximumGlobBraceDepth) {
      Fail("braces are nested more than " + std::to_string(kMaximumGlobBraceDepth) + " deep");
    }
    std::vector<Sequence> choices;
    bool has_comma = false;
    while (true) {
      std::vector<Sequence> expansions = ParseStretch(depth);
      std::move(expansions.begin(), expansions.end(), std::back_inserter(choices));
      CheckSize(choices.size(), CountParts(choices));
      if (at_ == pattern_.size()) Fail("'{' without '}'");
      if (pattern_[at_++] == '}') break;
      has_comma = true;
    }
    if (has_comma) return choices;
    if (pattern_.substr(start, at_ - start).find("..") != std::string_view::npos) {
      Fail("ranges in braces are not supported: write {1,2,3}");
    }
    for (Sequence& choice : choices) {
      choice.insert(choice.begin(), {.text = "{", .character = '{'});
      choice.push_back({.text = "}", .character = '}'});
    }
    return choices;
  }

  GlobPart ParsePart() {
    switch (pattern_[at_]) {
      case '/':
        ++at_;
        return {.kind = Kind::kSeparator};
      case '*':
        ++at_;
        return {.kind = Kind::kAnyCharacters};
      case '?':
        ++at_;
        return {.kind = Kind::kAnyCharacter};
      case '[':
        return {.kind = Kind::kClass,
                .characters = std::make_shared<const CharacterClass>(ParseClass())};
      case '\\':
        ++at_;
        if (at_ == pattern_.size()) Fail("'\\' with nothing after it");
        if (pattern_[at_] == '/') Fail("'/' separates names and cannot be escaped");
        break;
      default:
        break;
    }
    const std::size_t text = at_;
    const char32_t character = TakeCharacter(pattern_, at_);
    return {.text = std::string(pattern_.substr(text, at_ - text)), .character = character};
  }

  CharacterClass ParseClass() {
    CharacterClass parsed;
    ++at_;
    parsed.negated = PeekInClass() == '!' || PeekInClass() == '^';
    if (parsed.negated) ++at_;
    do {
      ParseClassItem(parsed);
    } while (PeekInClass() != ']');
    ++at_;
    return parsed;
  }

  char PeekInClass(std::size_t ahead = 0) const {
    if (at_ + ahead >= pattern_.size() || pattern_[at_] == '/') {
      Fail("'[' without ']' in the same name; write \\[ for a bracket");
    }
    return pattern_[at_ + ahead];
  }

  void ParseClassItem(CharacterClass& parsed) {
    const std::string_view rest = pattern_.substr(at_);
    if (rest.starts_with("[:") && rest.find(":]", 2) != std::string_view::npos) {
      Fail("classes such as [:digit:] are not supported: write [0-9]");
    }
    const char32_t low = TakeClassCharacter();
    if (PeekInClass() != '-' || PeekInClass(1) == ']') {
      parsed.ranges.emplace_back(low, low);
      return;
    }
    ++at_;
    const char32_t high = TakeClassCharacter();
    if (high < low) Fail("the range runs backwards");
    parsed.ranges.emplace_back(low, high);
  }

  char32_t TakeClassCharacter() {
    if (PeekInClass() == '\\') ++at_;
    PeekInClass();  // not at the end
    return TakeCharacter(pattern_, at_);
  }

  [[nodiscard]] std::vector<Sequence> Combine(const std::vector<Sequence>& heads,
                                              const std::vector<Sequence>& tails) const {
    CheckSize(heads.size() * tails.size(),
              CountParts(heads) * tails.size() + CountParts(tails) * heads.size());
    std::vector<Sequence> combined;
    for (const Sequence& head : heads) {
      for (const Sequence& tail : tails) {
        combined.push_back(head);
        combined.back().insert(combined.back().end(), tail.begin(), tail.end());
      }
    }
    return combined;
  }

  static std::size_t CountParts(const std::vector<Sequence>& sequences) {
    std::size_t parts = 0;
    for (const Sequence& sequence : sequences) parts += sequence.size();
    return parts;
  }

  void CheckSize(std::size_t alternatives, std::size_t parts) const {
    if (alternatives <= kMaximumGlobAlternatives && parts <= kMaximumExpandedGlobParts) return;
    Fail("the braces expand to more than " + std::to_string(kMaximumGlobAlternatives) +
         " alternatives or " + std::to_string(kMaximumExpandedGlobParts) +
         " characters: use several narrower patterns");
  }

  [[noreturn]] void Fail(const std::string& problem) const { ThrowGlobError(pattern_, problem); }

  std::string_view pattern_;
  std::size_t at_ = 0;
};

void AppendFilter(std::string& filter, const GlobPart& part) {
  // U+FFFD also stands for any byte that is not UTF-8 (see GlobMatcher).
  if (part.kind != Kind::kCharacter || part.text == support::kReplacementCharacter) {
    if (!filter.ends_with('*') || filter.ends_with("\\*")) filter += '*';
    return;
  }
  if (std::string_view("*?[]\\").find(part.text[0]) != std::string_view::npos) filter += '\\';
  filter += part.text;
}

GlobComponent MakeComponent(Sequence parts) {
  GlobComponent component;
  bool has_wildcard = false;
  for (const GlobPart& part : parts) {
    AppendFilter(component.name_filter, part);
    component.literal += part.text;
    has_wildcard = has_wildcard || part.kind != Kind::kCharacter;
  }
  if (has_wildcard) component.literal.clear();
  component.is_any_depth = parts.size() == 2 && parts[0].kind == Kind::kAnyCharacters &&
                           parts[1].kind == Kind::kAnyCharacters;
  component.parts = std::move(parts);
  return component;
}

GlobAlternative MakeAlternative(std::string_view pattern, const Sequence& parts) {
  GlobAlternative alternative;
  alternative.absolute = !parts.empty() && parts.front().kind == Kind::kSeparator;
  alternative.directories_only = !parts.empty() && parts.back().kind == Kind::kSeparator;
  for (auto begin = parts.begin(); begin != parts.end();) {
    const auto end = std::find_if(
        begin, parts.end(), [](const GlobPart& part) { return part.kind == Kind::kSeparator; });
    GlobComponent component = MakeComponent({begin, end});
    if (component.literal == "..") {
      ThrowGlobError(pattern, "'..' cannot leave the directory: give that directory as the path");
    }
    const bool repeated = component.is_any_depth && !alternative.components.empty() &&
                          alternative.components.back().is_any_depth;
    if (begin != end && component.literal != "." && !repeated) {
      alternative.components.push_back(std::move(component));
    }
    begin = end == parts.end() ? end : std::next(end);
  }
  if (alternative.components.empty()) {
    ThrowGlobError(pattern, "it names nothing: write \"*\" for every name in the directory");
  }
  return alternative;
}

}  // namespace

bool GlobAlternative::HasAnyDepth() const {
  return std::any_of(components.begin(), components.end(),
                     [](const GlobComponent& component) { return component.is_any_depth; });
}

std::size_t GlobAlternative::LiteralNames() const {
  const auto wildcard =
      std::find_if(components.begin(), components.end(),
                   [](const GlobComponent& component) { return component.literal.empty(); });
  return static_cast<std::size_t>(std::distance(components.begin(), wildcard));
}

std::vector<GlobAlternative> ParseGlob(std::string_view pattern) {
  if (pattern.size() > kMaximumGlobPattern) {
    throw support::CallError("The pattern has " + std::to_string(pattern.size()) +
                             " bytes, more than the " + std::to_string(kMaximumGlobPattern) +
                             " allowed. Use several narrower patterns.");
  }
  if (const auto nul = pattern.find('\0'); nul != std::string_view::npos) {
    ThrowGlobError(pattern.substr(0, nul), "a NUL character cannot be part of a name");
  }
  std::vector<GlobAlternative> alternatives;
  for (const Sequence& sequence : Parser(pattern).Parse()) {
    alternatives.push_back(MakeAlternative(pattern, sequence));
  }
  return alternatives;
}

std::vector<std::string> NameFilters(const std::vector<GlobAlternative>& alternatives) {
  std::vector<std::string> filters;
  for (const GlobAlternative& alternative : alternatives) {
    const std::string& filter = alternative.components.back().name_filter;
    if (filter == "*") return {};
    if (std::find(filters.begin(), filters.end(), filter) == filters.end()) {
      filters.push_back(filter);
    }
    if (filters.size() > kMaximumNameFilters) return {};
  }
  return filters;
}

char32_t TakeCharacter(std::string_view utf8, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(utf8[at++]);
  if (lead < 0xC0) return lead;
  char32_t character = lead & (lead < 0xE0 ? 0x1FU : lead < 0xF0 ? 0x0FU : 0x07U);
  for (; at < utf8.size(); ++at) {
    const auto byte = static_cast<unsigned char>(utf8[at]);
    if ((byte & 0xC0U) != 0x80U) break;
    character = (character << 6U) | (byte & 0x3FU);
  }
  return character;
}

void ThrowGlobError(std::string_view pattern, const std::string& problem) {
  throw support::CallError("Bad pattern \"" + std::string(pattern) + "\": " + problem + ".");
}

}  // namespace find
