// SPDX-License-Identifier: Apache-2.0
#include "find/glob.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "support/errors.h"
#include "support/format.h"
#include "support/regex.h"
#include "support/utf8.h"
#include "support/words.h"

namespace find {
namespace {

/// Most bytes of all alternatives, also as regular expressions. RE2 compiles so many in 20 ms.
constexpr std::size_t kMaxExpandedGlob = std::size_t{24} * 1024;

/// More filters slow find down.
constexpr std::size_t kMaxNameFilters = 32;

using support::Format;
using Texts = std::vector<std::string>;

[[noreturn]] void ThrowGlobError(std::string_view pattern, const std::string& problem) {
  throw support::Error("Bad pattern \"{}\": {}.", pattern, problem);
}

/// A wildcard, the content of a class, an escaped character, or ordinary characters.
struct Item {
  std::string text;  ///< as it is in the pattern
  std::string wildcard, content, escaped, ordinary;
};

/// Reads the items of a pattern and expands its braces.
class Parser {
 public:
  explicit Parser(std::string_view pattern) : pattern_(pattern), rest_(pattern) {}

  [[nodiscard]] bool AtEnd() const { return rest_.empty(); }

  Item TakeItem() {
    static const support::Regex item(
        R"((?s)([*?])|\[((?:[!^](?:\\[^/]|[^\\/])|\\[^/]|[^!^\\/])(?:\\[^/]|[^\]\\/])*)\]|)"
        R"(\\([^/])|([^\\\[*?{,}\x{FFFD}]+|[^\\\[]))");
    Item taken;
    const std::string_view before = rest_;
    if (!item.Consume(rest_, &taken.wildcard, &taken.content, &taken.escaped, &taken.ordinary)) {
      Fail(rest_[0] == '['
               ? "'[' without ']' in the same name; write \\[ for a bracket"
               : "'\\' with nothing after it; '/' separates names and cannot be escaped");
    }
    taken.text = std::string(before.data(), before.size() - rest_.size());
    return taken;
  }

  /// Inside braces (`depth` > 0), stops before the ',' or '}' that ends the alternative.
  Texts Expand(std::size_t depth) {
    Texts expansions(1);
    while (!AtEnd() && !(depth > 0 && (rest_[0] == ',' || rest_[0] == '}'))) {
      const Texts tails = rest_[0] == '{' ? ExpandBraces(depth + 1) : Texts{TakeItem().text};
      Texts longer;
      std::size_t bytes = 0;
      for (const std::string& head : expansions) {
        for (const std::string& tail : tails) {
          longer.push_back(head + tail);
          CheckSize(longer.size(), bytes += longer.back().size());
        }
      }
      expansions = std::move(longer);
    }
    return expansions;
  }

  void CheckSize(std::size_t alternatives, std::size_t bytes) const {
    if (alternatives <= kMaxGlobAlternatives && bytes <= kMaxExpandedGlob) return;
    Fail(
        Format("it expands to more than {} alternatives or {} bytes: use several narrower patterns",
               kMaxGlobAlternatives, kMaxExpandedGlob));
  }

 private:
  Texts ExpandBraces(std::size_t depth) {
    if (depth > kMaxGlobBraceDepth) {
      Fail(Format("braces are nested more than {} deep", kMaxGlobBraceDepth));
    }
    Texts choices;
    bool has_comma = false;
    do {
      has_comma = rest_[0] == ',';
      rest_.remove_prefix(1);
      const Texts expansions = Expand(depth);
      choices.insert(choices.end(), expansions.begin(), expansions.end());
      if (AtEnd()) Fail("'{' without '}'");
    } while (rest_[0] == ',');
    rest_.remove_prefix(1);
    if (has_comma) return choices;
    if (choices.front().find("..") != std::string::npos) {
      Fail("ranges in braces are not supported: write {1,2,3}");
    }
    for (std::string& choice : choices) choice = "{" + choice + "}";
    return choices;
  }

  [[noreturn]] void Fail(const std::string& problem) const { ThrowGlobError(pattern_, problem); }

  std::string_view pattern_;
  std::string_view rest_;
};

/// The class for RE2, and "|"; empty if it has none. It does not match '/'.
std::string ClassExpression(std::string content) {
  static const support::Regex item(R"((?s)(\[:\w*:$)|\\?(.)(?:-\\?(.))?)");
  std::string expression = "[";
  if (content[0] == '!' || content[0] == '^') {
    expression += "^/";
    content.erase(0, 1);
  }
  std::string_view rest(content);
  std::string named;
  std::string low;
  std::string high;
  while (item.Consume(rest, &named, &low, &high)) {
    // Classes such as [:digit:], and ranges that run backwards. UTF-8 sorts by code point.
    if (!named.empty() || (!high.empty() && high < low)) return "";
    expression += support::Regex::Quote(low);
    if (!high.empty())
      expression += (low < "/" && high > "/" ? "-.0-" : "-") + support::Regex::Quote(high);
  }
  return expression + "]|";
}

GlobName ParseGlobName(std::string_view text) {
  GlobName name;
  bool has_wildcard = false;
  for (Parser parser(text); !parser.AtEnd();) {
    const Item item = parser.TakeItem();
    const std::string literal = item.escaped + item.ordinary;
    if (!item.wildcard.empty()) {
      name.expression += item.wildcard == "*" ? "[^/]*" : "[^/]";
    } else {
      // Names such as [id].ts are common, so a class also matches its own text.
      name.expression += literal.empty() ? "(?:" + ClassExpression(item.content) +
                                               support::Regex::Quote(item.text) + ")"
                                         : support::Regex::Quote(literal);
    }
    name.literal += literal;
    has_wildcard = has_wildcard || literal.empty();
    // U+FFFD also stands for any byte that is not UTF-8.
    const bool is_any = literal.empty() || literal == support::kReplacementCharacter;
    if (!is_any) {
      const bool is_special = std::string_view("*?[]\\").find(literal[0]) != std::string::npos;
      name.filter += is_special ? "\\" + literal : literal;
    } else if (!name.filter.ends_with('*') || name.filter.ends_with("\\*")) {
      name.filter += '*';
    }
  }
  if (has_wildcard) name.literal.clear();
  if (text == "**") name.filter = text;
  return name;
}

GlobAlternative ParseAlternative(std::string_view pattern, std::string_view text) {
  GlobAlternative alternative = {
      .names = {}, .absolute = text.starts_with('/'), .directories_only = text.ends_with('/')};
  std::vector<GlobName>& names = alternative.names;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('/'), text.size());
    GlobName name = ParseGlobName(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (name.literal == "..") {
      ThrowGlobError(pattern, "'..' cannot leave the directory: give that directory as the path");
    }
    const bool repeated = name.is_any_depth() && !names.empty() && names.back().is_any_depth();
    if (end > 0 && name.literal != "." && !repeated) names.push_back(std::move(name));
  }
  if (names.empty()) {
    ThrowGlobError(pattern, "it names nothing: write \"*\" for every name in the directory");
  }
  return alternative;
}

std::string Expression(const GlobAlternative& alternative) {
  std::string expression;
  for (const GlobName& name : alternative.names) {
    const bool is_last = &name == &alternative.names.back();
    expression += name.is_any_depth() ? (is_last ? ".+" : "(?:.+/)?")
                                      : name.expression + (is_last ? "" : "/");
  }
  return expression;
}

[[noreturn]] void ThrowTooComplex() {
  throw support::Error("The pattern is too complex. Use several narrower patterns.");
}

void AddIfNew(std::vector<std::string>& texts, const std::string& text) {
  if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
}

/// The filters of the last names. Empty if any name can match, or there are too many filters.
std::vector<std::string> NameFilters(const std::vector<GlobAlternative>& alternatives) {
  std::vector<std::string> filters;
  for (const GlobAlternative& alternative : alternatives) {
    AddIfNew(filters, alternative.names.back().filter);
    const bool is_any = filters.back().find_first_not_of('*') == std::string::npos;
    if (is_any || filters.size() > kMaxNameFilters) return {};
  }
  return filters;
}

/// How many names of an alternative become part of the directory: those before its first wildcard,
/// at most `most`, but never the last name.
std::size_t PrefixLength(const GlobAlternative& alternative, bool case_sensitive,
                         std::size_t most) {
  if (!case_sensitive && !alternative.absolute) return 0;
  return std::min({most, alternative.LiteralNames(), alternative.names.size() - 1});
}

/// GlobWalk::directory of an alternative.
std::string Directory(const GlobAlternative& alternative, std::size_t prefix_length) {
  std::string directory = alternative.absolute ? "/" : "";
  for (std::size_t i = 0; i < prefix_length; ++i) {
    directory += (i > 0 ? "/" : "") + alternative.names[i].literal;
  }
  return directory;
}

std::string Pathspec(const GlobAlternative& alternative) {
  std::string pathspec = ":(glob)";
  for (const GlobName& name : alternative.names) {
    pathspec += (&name == &alternative.names.front() ? "" : "/") + name.filter;
  }
  return pathspec;
}

}  // namespace

bool GlobAlternative::HasAnyDepth() const {
  return std::ranges::any_of(names, &GlobName::is_any_depth);
}

bool GlobAlternative::NamesGit() const {
  return std::ranges::any_of(
      names, [](const GlobName& name) { return support::LowerCase(name.literal) == ".git"; });
}

std::size_t GlobAlternative::LiteralNames() const {
  return static_cast<std::size_t>(std::ranges::find(names, std::string(), &GlobName::literal) -
                                  names.begin());
}

std::vector<GlobAlternative> ParseGlob(std::string_view pattern) {
  if (pattern.size() > kMaxGlobPattern) {
    throw support::Error(
        "The pattern has {} bytes, more than the {} allowed. Use several narrower patterns.",
        pattern.size(), kMaxGlobPattern);
  }
  if (const auto nul = pattern.find('\0'); nul != std::string_view::npos) {
    ThrowGlobError(pattern.substr(0, nul), "a NUL character cannot be part of a name");
  }
  Parser parser(pattern);
  std::vector<GlobAlternative> alternatives;
  std::size_t bytes = 0;
  for (const std::string& text : parser.Expand(0)) {
    alternatives.push_back(ParseAlternative(pattern, text));
    bytes += Expression(alternatives.back()).size();
  }
  parser.CheckSize(alternatives.size(), bytes);
  return alternatives;
}

std::string HintIfUnmatched(std::string_view pattern) {
  struct Row {
    const char* sign;
    const char* hint;
    bool in_lists = false;
  };
  static const Row rows[] = {
      {R"(!\(|^!)", "`!` does not exclude here: match all, and leave out what you do not want."},
      {R"([?*+@]\([^()]*\))", "`+(a|b)` is not supported: write {a,b}, or one pattern for each."},
      {R"(^~(?:/|$))", "`~` is not replaced here: write the absolute path."},
      {R"((?:\*[^/,;|]*|\.\w+)\s*[,;|]\s*[^\s,;|]*[*./\w]|^[^{}]*\w,\w[^{}]*$|\*\S*\s+\S*\*)",
       "`,`, `;`, `|` and blanks do not separate patterns: write {a,b}."},
      {R"(\{[^{},]*\})", "Braces with one member stand for themselves: leave them out.", true},
      {R"((?:^|[^\\])\[)",
       "`[…]` stands for one character of a set or range; write `\\[…\\]` for brackets.", true}};
  static const support::Regex list(R"(\{[^{}]*\}|\[[^\]/]*\])");
  std::string rest(pattern);
  while (list.Replace(rest, "x")) {
  }
  for (const Row& row : rows) {
    if (support::Regex(row.sign).PartialMatch(row.in_lists ? pattern : rest)) return row.hint;
  }
  return "";
}

struct GlobMatcher::Set {
  std::vector<GlobAlternative> alternatives;
  support::RegexSet expressions;  ///< of the alternatives, in the same order
};

GlobMatcher::GlobMatcher(std::vector<GlobAlternative> alternatives, bool case_sensitive) {
  std::vector<std::string> expressions;
  for (const GlobAlternative& alternative : alternatives) {
    expressions.push_back(Expression(alternative));
  }
  try {
    support::RegexSet set(expressions, support::Regex::Encoding::kUtf8, case_sensitive);
    set_ = std::make_shared<Set>(Set{std::move(alternatives), std::move(set)});
  } catch (const std::invalid_argument&) {
    ThrowTooComplex();
  }
}

bool GlobMatcher::Matches(std::string_view path, bool is_directory,
                          std::size_t ignored_names) const {
  const std::optional<std::vector<int>> matching = set_->expressions.FullMatches(path);
  if (!matching) ThrowTooComplex();
  if (matching->empty()) return false;
  const bool is_git = ("/" + std::string(path) + "/").find("/.git/") != std::string::npos;
  return std::ranges::any_of(*matching, [&](int index) {
    const GlobAlternative& alternative = set_->alternatives[static_cast<std::size_t>(index)];
    if (alternative.directories_only && !is_directory) return false;
    if (!alternative.HasAnyDepth()) return true;
    return ignored_names <= alternative.LiteralNames() && (!is_git || alternative.NamesGit());
  });
}

std::vector<GlobWalk> PlanGlob(std::string_view pattern, bool case_sensitive) {
  std::vector<GlobAlternative> alternatives = ParseGlob(pattern);
  // Searches for the longest prefixes that make few enough directories.
  std::size_t most = 0;
  for (std::size_t too_many = kMaxGlobPattern; most + 1 < too_many;) {
    const std::size_t middle = (most + too_many) / 2;
    std::set<std::string> directories;
    for (const GlobAlternative& alternative : alternatives) {
      directories.insert(Directory(alternative, PrefixLength(alternative, case_sensitive, middle)));
    }
    (directories.size() <= kMaxGlobWalks ? most : too_many) = middle;
  }
  std::map<std::string, std::vector<GlobAlternative>> groups;
  for (GlobAlternative& alternative : alternatives) {
    const std::size_t length = PrefixLength(alternative, case_sensitive, most);
    std::vector<GlobAlternative>& group = groups[Directory(alternative, length)];
    alternative.names.erase(alternative.names.begin(),
                            alternative.names.begin() + static_cast<std::ptrdiff_t>(length));
    group.push_back(std::move(alternative));
  }
  std::vector<GlobWalk> walks;
  for (const auto& [directory, members] : groups) {
    ListingRequest listing;
    listing.skips_ignored = true;
    std::size_t depth = 0;
    for (const GlobAlternative& member : members) {
      listing.wants_ignored |= member.HasAnyDepth();
      listing.skips_ignored &= member.HasAnyDepth() && member.LiteralNames() == 0;
      listing.enters_git |= !member.HasAnyDepth() || member.NamesGit();
      depth = std::max(depth, member.names.size());
    }
    if (!listing.wants_ignored) listing.maximum_depth = depth;
    if (case_sensitive) listing.name_filters = NameFilters(members);
    walks.push_back({directory, std::move(listing), GlobMatcher(members, case_sensitive)});
  }
  return walks;
}

IncludeFilter::IncludeFilter(std::string_view include) {
  const GlobName any_depth = ParseGlob("**").front().names.front();
  std::vector<GlobAlternative> patterns;
  for (GlobAlternative& alternative : ParseGlob(include)) {
    if (alternative.absolute) {
      ThrowGlobError(include,
                     "include matches names below the searched directory and cannot begin with "
                     "'/': pass that directory as path");
    }
    const bool directories_only = std::exchange(alternative.directories_only, false);
    if (alternative.names.size() == 1 && !directories_only) {
      if (!alternative.HasAnyDepth()) {
        alternative.names.insert(alternative.names.begin(), any_depth);
      }
    } else if (directories_only || alternative.LiteralNames() == alternative.names.size()) {
      patterns.push_back(alternative);
      patterns.back().names.push_back(any_depth);
    }
    if (!directories_only) patterns.push_back(std::move(alternative));
  }
  for (const GlobAlternative& pattern : patterns) AddIfNew(pathspecs, Pathspec(pattern));
  matcher.emplace(std::move(patterns), true);
}

}  // namespace find
