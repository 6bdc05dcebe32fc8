#include "find/glob_matcher.h"

#include <locale.h>
#include <wctype.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "support/lower_case.h"

namespace find {
namespace {

using Kind = GlobPart::Kind;
using Name = std::u32string_view;

locale_t Utf8Locale() {
  static const locale_t locale = [] {
    for (const char* name : {"C.UTF-8", "en_US.UTF-8", "UTF-8"}) {
      if (const locale_t found = newlocale(LC_CTYPE_MASK, name, nullptr)) return found;
    }
    return newlocale(LC_CTYPE_MASK, "C", nullptr);
  }();
  return locale;
}

char32_t Lower(char32_t character) {
  return static_cast<char32_t>(towlower_l(static_cast<wint_t>(character), Utf8Locale()));
}

char32_t Upper(char32_t character) {
  return static_cast<char32_t>(towupper_l(static_cast<wint_t>(character), Utf8Locale()));
}

bool Contains(const CharacterClass& characters, char32_t character) {
  return std::any_of(characters.ranges.begin(), characters.ranges.end(), [&](const auto& range) {
    return range.first <= character && character <= range.second;
  });
}

/// Without case sensitivity, `character` and the part's character are in lower case.
bool MatchesCharacter(const GlobPart& part, char32_t character, bool case_sensitive) {
  if (part.kind == Kind::kAnyCharacter) return true;
  if (part.kind == Kind::kCharacter) return part.character == character;
  const bool contains = Contains(*part.characters, character) ||
                        (!case_sensitive && Contains(*part.characters, Upper(character)));
  return contains != part.characters->negated;
}

/// Matches the elements of a text against a pattern with stars. On a mismatch, extends only the
/// last star by one element: extending an earlier star cannot help, because the elements after it
/// matched as early as possible. Returns how many elements of the pattern were used; nullopt if
/// they do not match.
template <typename Pattern, typename Text, typename IsStar, typename MatchesOne>
std::optional<std::size_t> Match(const Pattern& pattern, const Text& text, const IsStar& is_star,
                                 const MatchesOne& matches_one) {
  std::size_t needed = 0;
  std::size_t at = 0;
  std::size_t after_star = 0;  // 0 before the first star
  std::size_t star_ends = 0;
  while (at < text.size()) {
    if (needed < pattern.size() && is_star(pattern[needed])) {
      after_star = ++needed;
      star_ends = at;
    } else if (needed < pattern.size() && matches_one(pattern[needed], text[at])) {
      ++needed;
      ++at;
    } else if (after_star > 0) {
      needed = after_star;
      at = ++star_ends;
    } else {
      return std::nullopt;
    }
  }
  return needed;
}

bool MatchesName(const std::vector<GlobPart>& parts, Name name, bool case_sensitive) {
  const auto is_star = [](const GlobPart& part) { return part.kind == Kind::kAnyCharacters; };
  const auto needed = Match(parts, name, is_star, [&](const GlobPart& part, char32_t character) {
    return MatchesCharacter(part, character, case_sensitive);
  });
  return needed &&
         std::all_of(parts.begin() + static_cast<std::ptrdiff_t>(*needed), parts.end(), is_star);
}

/// A final `**` matches at least one name.
bool MatchesPath(const std::vector<GlobComponent>& components, const std::vector<Name>& names,
                 bool case_sensitive) {
  return Match(
             components, names,
             [](const GlobComponent& component) { return component.is_any_depth; },
             [&](const GlobComponent& component, Name name) {
               return MatchesName(component.parts, name, case_sensitive);
             }) == components.size();
}

bool ContainsGit(std::string_view path) {
  return ("/" + std::string(path) + "/").find("/.git/") != std::string::npos;
}

}  // namespace

bool NamesGitDirectory(const GlobAlternative& alternative, bool case_sensitive) {
  return std::any_of(alternative.components.begin(), alternative.components.end(),
                     [case_sensitive](const GlobComponent& component) {
                       return (case_sensitive ? component.literal
                                              : support::LowerCase(component.literal)) == ".git";
                     });
}

GlobMatcher::GlobMatcher(std::vector<GlobAlternative> alternatives, bool case_sensitive)
    : case_sensitive_(case_sensitive) {
  for (GlobAlternative& alternative : alternatives) {
    Rule rule = {.pattern = {},
                 .any_depth = alternative.HasAnyDepth(),
                 .names_git = NamesGitDirectory(alternative, case_sensitive),
                 .literal_names = alternative.LiteralNames()};
    rule.pattern = std::move(alternative);
    if (!case_sensitive) {
      for (GlobComponent& component : rule.pattern.components) {
        for (GlobPart& part : component.parts) part.character = Lower(part.character);
      }
    }
    rules_.push_back(std::move(rule));
  }
}

GlobMatch GlobMatcher::Match(std::string_view path, bool is_directory,
                             std::size_t ignored_names) const {
  std::u32string characters;
  for (std::size_t at = 0; at < path.size();) {
    const char32_t character = TakeCharacter(path, at);
    characters += case_sensitive_ ? character : Lower(character);
  }
  std::vector<Name> names;
  for (Name rest = characters; !rest.empty();) {
    names.push_back(rest.substr(0, rest.find(U'/')));
    rest.remove_prefix(std::min(rest.size(), names.back().size() + 1));
  }
  GlobMatch match = GlobMatch::kNone;
  for (const Rule& rule : rules_) {
    if (rule.pattern.directories_only && !is_directory) continue;
    if (!MatchesPath(rule.pattern.components, names, case_sensitive_)) continue;
    if (!rule.any_depth) return GlobMatch::kNamed;
    if (!rule.names_git && ContainsGit(path)) continue;
    if (ignored_names > 0 && ignored_names <= rule.literal_names) return GlobMatch::kNamed;
    match = GlobMatch::kFound;
  }
  return match;
}

}  // namespace find
