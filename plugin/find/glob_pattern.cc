#include "find/glob_pattern.h"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "find/glob_class.h"
#include "find/glob_error.h"
#include "support/errors.h"
#include "support/utf8.h"

namespace find {
namespace {

enum class PartKind { kLiteral, kAnyCharacter, kAnyCharacters, kClass, kSeparator };

struct Part {
  PartKind kind;
  std::string written;
  std::string value;  ///< kLiteral: the bytes meant; kClass: its regular expression
  std::size_t position;
};

using Sequence = std::vector<Part>;

/// What a stretch of the pattern stands for: parts, and braces that each stand for several
/// stretches.
struct Node {
  std::optional<Part> part;
  std::vector<std::vector<Node>> choices;
};

class Parser {
 public:
  explicit Parser(std::string_view pattern) : pattern_(pattern) {}

  std::vector<Node> ParseAll() { return ParseStretch(0); }

 private:
  /// Inside braces (`depth` > 0) it stops before the ',' or '}' that ends the stretch.
  std::vector<Node> ParseStretch(std::size_t depth) {
    std::vector<Node> nodes;
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_];
      if (depth > 0 && (c == ',' || c == '}')) break;
      if (c == '{') {
        ParseBraces(depth + 1, nodes);
      } else {
        nodes.push_back({ParsePart(), {}});
      }
    }
    return nodes;
  }

  void ParseBraces(std::size_t depth, std::vector<Node>& nodes) {
    const std::size_t start = at_++;
    if (depth > kMaximumGlobBraceDepth) {
      ThrowGlobError(
          pattern_, start,
          "braces are nested more than " + std::to_string(kMaximumGlobBraceDepth) + " deep");
    }
    std::vector<std::vector<Node>> choices;
    while (true) {
      choices.push_back(ParseStretch(depth));
      if (at_ == pattern_.size()) ThrowGlobError(pattern_, start, "'{' without '}'");
      if (pattern_[at_++] == '}') break;
    }
    if (choices.size() > 1) {
      nodes.push_back({std::nullopt, std::move(choices)});
      return;
    }
    const std::string_view inside = pattern_.substr(start + 1, at_ - start - 2);
    static const RE2 range(R"(-?\w+\.\.-?\w+(\.\.-?\d+)?)");
    if (RE2::FullMatch(re2::StringPiece(inside.data(), inside.size()), range)) {
      ThrowGlobError(pattern_, start, "ranges in braces are not supported: write {1,2,3}");
    }
    nodes.push_back({Literal("{", "{", start), {}});
    std::move(choices[0].begin(), choices[0].end(), std::back_inserter(nodes));
    nodes.push_back({Literal("}", "}", at_ - 1), {}});
  }

  Part ParsePart() {
    const std::size_t start = at_;
    switch (pattern_[at_]) {
      case '/':
        ++at_;
        return {PartKind::kSeparator, "/", "", start};
      case '*':
        ++at_;
        return {PartKind::kAnyCharacters, "*", "", start};
      case '?':
        ++at_;
        return {PartKind::kAnyCharacter, "?", "", start};
      case '[': {
        std::string regex = ParseGlobClass(pattern_, at_);
        return {PartKind::kClass, std::string(pattern_.substr(start, at_ - start)),
                std::move(regex), start};
      }
      case '\\':
        return ParseEscape();
      default:
        SkipCharacter();
        return Literal(pattern_.substr(start, at_ - start), pattern_.substr(start, at_ - start),
                       start);
    }
  }

  void SkipCharacter() {
    do {
      ++at_;
    } while (at_ < pattern_.size() && (static_cast<unsigned char>(pattern_[at_]) & 0xC0U) == 0x80U);
  }

  Part ParseEscape() {
    const std::size_t start = at_++;
    if (at_ == pattern_.size()) ThrowGlobError(pattern_, start, "'\\' with nothing after it");
    if (pattern_[at_] == '/') {
      ThrowGlobError(pattern_, start, "'/' divides names and cannot be escaped");
    }
    SkipCharacter();
    return Literal(pattern_.substr(start, at_ - start), pattern_.substr(start + 1, at_ - start - 1),
                   start);
  }

  static Part Literal(std::string_view written, std::string_view value, std::size_t position) {
    return {PartKind::kLiteral, std::string(written), std::string(value), position};
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
};

/// Multiplies the choices out, and stops before that takes much memory.
class Expander {
 public:
  explicit Expander(std::string_view pattern) : pattern_(pattern) {}

  std::vector<Sequence> Expand(const std::vector<Node>& nodes) const {
    std::vector<Sequence> sequences(1);
    for (const Node& node : nodes) {
      if (node.part) {
        for (Sequence& sequence : sequences) sequence.push_back(*node.part);
      } else {
        sequences = Multiply(sequences, node.choices);
      }
      CheckSize(sequences);
    }
    return sequences;
  }

 private:
  std::vector<Sequence> Multiply(const std::vector<Sequence>& heads,
                                 const std::vector<std::vector<Node>>& choices) const {
    std::vector<Sequence> tails;
    for (const std::vector<Node>& choice : choices) {
      std::vector<Sequence> expanded = Expand(choice);
      std::move(expanded.begin(), expanded.end(), std::back_inserter(tails));
      CheckSize(tails);
    }
    if (heads.size() * tails.size() > kMaximumGlobAlternatives ||
        CountParts(heads) * tails.size() + CountParts(tails) * heads.size() >
            kMaximumExpandedGlobParts) {
      ThrowTooMany();
    }
    std::vector<Sequence> products;
    for (const Sequence& head : heads) {
      for (const Sequence& tail : tails) {
        products.push_back(head);
        products.back().insert(products.back().end(), tail.begin(), tail.end());
      }
    }
    return products;
  }

  void CheckSize(const std::vector<Sequence>& sequences) const {
    if (sequences.size() > kMaximumGlobAlternatives ||
        CountParts(sequences) > kMaximumExpandedGlobParts) {
      ThrowTooMany();
    }
  }

  static std::size_t CountParts(const std::vector<Sequence>& sequences) {
    std::size_t parts = 0;
    for (const Sequence& sequence : sequences) parts += sequence.size();
    return parts;
  }

  [[noreturn]] void ThrowTooMany() const {
    ThrowGlobError(pattern_, pattern_.find('{'),
                   "the braces expand to more than " + std::to_string(kMaximumGlobAlternatives) +
                       " alternatives or " + std::to_string(kMaximumExpandedGlobParts) +
                       " characters: use several narrower patterns");
  }

  std::string_view pattern_;
};

void AppendFilter(std::string& filter, const Part& part) {
  // U+FFFD also stands for any byte that is not UTF-8 (see GlobMatcher).
  if (part.kind != PartKind::kLiteral || part.value == support::kReplacementCharacter) {
    if (!filter.ends_with('*') || filter.ends_with("\\*")) filter += '*';
    return;
  }
  if (std::string_view("*?[]\\").find(part.value[0]) != std::string_view::npos) filter += '\\';
  filter += part.value;
}

GlobComponent MakeComponent(const Sequence& parts) {
  GlobComponent component;
  component.is_literal = true;
  std::string literal_run;
  const auto flush = [&] {
    component.regex += RE2::QuoteMeta(literal_run);
    literal_run.clear();
  };
  for (const Part& part : parts) {
    component.written += part.written;
    AppendFilter(component.name_filter, part);
    if (part.kind == PartKind::kLiteral) {
      component.literal += part.value;
      literal_run += part.value;
      continue;
    }
    component.is_literal = false;
    flush();
    if (part.kind == PartKind::kAnyCharacter) component.regex += "[^/]";
    if (part.kind == PartKind::kClass) component.regex += part.value;
    if (part.kind == PartKind::kAnyCharacters && !component.regex.ends_with("[^/]*")) {
      component.regex += "[^/]*";
    }
  }
  flush();
  if (!component.is_literal) component.literal.clear();
  if (component.written == "**") {
    component.is_any_depth = true;
    component.regex.clear();
  }
  return component;
}

GlobAlternative MakeAlternative(std::string_view pattern, const Sequence& parts) {
  GlobAlternative alternative;
  alternative.absolute = !parts.empty() && parts.front().kind == PartKind::kSeparator;
  alternative.directories_only = !parts.empty() && parts.back().kind == PartKind::kSeparator;
  Sequence name;
  const auto finish_name = [&] {
    if (name.empty()) return;
    GlobComponent component = MakeComponent(name);
    if (component.literal == "..") {
      ThrowGlobError(pattern, name.front().position,
                     "'..' cannot leave the directory: give that directory as the path");
    }
    name.clear();
    if (component.literal == ".") return;
    const bool repeated = component.is_any_depth && !alternative.components.empty() &&
                          alternative.components.back().is_any_depth;
    if (!repeated) alternative.components.push_back(std::move(component));
  };
  for (const Part& part : parts) {
    if (part.kind == PartKind::kSeparator) {
      finish_name();
    } else {
      name.push_back(part);
    }
  }
  finish_name();
  if (alternative.components.empty()) {
    ThrowGlobError(pattern, 0, "it names nothing: write \"*\" for every name in the directory");
  }
  return alternative;
}

}  // namespace

std::vector<GlobAlternative> ParseGlob(std::string_view pattern) {
  if (pattern.size() > kMaximumGlobPattern) {
    throw support::CallError("The pattern has " + std::to_string(pattern.size()) +
                             " bytes, more than the " + std::to_string(kMaximumGlobPattern) +
                             " allowed. Use several narrower patterns.");
  }
  if (const auto nul = pattern.find('\0'); nul != std::string_view::npos) {
    ThrowGlobError(pattern.substr(0, nul), nul, "a NUL character cannot be part of a name");
  }
  std::vector<GlobAlternative> alternatives;
  for (const Sequence& sequence : Expander(pattern).Expand(Parser(pattern).ParseAll())) {
    alternatives.push_back(MakeAlternative(pattern, sequence));
  }
  return alternatives;
}

}  // namespace find
