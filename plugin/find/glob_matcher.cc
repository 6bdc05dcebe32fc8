#include "find/glob_matcher.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "support/errors.h"

namespace find {
namespace {

/// Bytes that RE2 may use for one compiled rule. The largest pattern that ParseGlob lets through
/// needs about half of it.
constexpr std::int64_t kMaximumMatcherMemory = 64LL << 20;

/// Rules are kept apart by these, and each may take so much memory.
constexpr std::size_t kMostNamedDirectories = 16;

bool EqualsGit(std::string_view name, bool case_sensitive) {
  constexpr std::string_view kGit = ".git";
  return std::equal(name.begin(), name.end(), kGit.begin(), kGit.end(),
                    [case_sensitive](char a, char b) {
                      const bool upper = !case_sensitive && 'A' <= a && a <= 'Z';
                      return (upper ? static_cast<char>(a - 'A' + 'a') : a) == b;
                    });
}

bool ContainsGit(std::string_view path) {
  while (true) {
    const std::size_t slash = path.find('/');
    if (path.substr(0, slash) == ".git") return true;
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
}

std::string ToRegex(const GlobAlternative& alternative) {
  std::string regex;
  for (std::size_t i = 0; i < alternative.components.size(); ++i) {
    const GlobComponent& component = alternative.components[i];
    const bool last = i + 1 == alternative.components.size();
    if (component.is_any_depth) {
      regex += last ? "(?s:.+)" : "(?:[^/]+/)*";
    } else {
      regex += component.regex;
      if (!last) regex += '/';
    }
  }
  return regex;
}

/// What alternatives that share one regular expression have in common.
struct RuleKind {
  bool any_depth;
  bool names_git;
  bool directories_only;
  std::size_t named_directories;  ///< that it begins with; 0 without `any_depth`

  bool operator<(const RuleKind& other) const {
    return std::tie(any_depth, names_git, directories_only, named_directories) <
           std::tie(other.any_depth, other.names_git, other.directories_only,
                    other.named_directories);
  }
};

/// Directories that an alternative with a `**` begins with, without wildcards; at most
/// kMostNamedDirectories.
std::size_t NamedDirectories(const GlobAlternative& alternative) {
  std::size_t names = 0;
  while (names < kMostNamedDirectories && alternative.components[names].is_literal) ++names;
  return names;
}

}  // namespace

struct GlobMatcher::Rule {
  RuleKind kind;
  std::unique_ptr<re2::RE2> regex;
};

bool NamesGitDirectory(const GlobAlternative& alternative, bool case_sensitive) {
  return std::any_of(alternative.components.begin(), alternative.components.end(),
                     [case_sensitive](const GlobComponent& component) {
                       return EqualsGit(component.literal, case_sensitive);
                     });
}

bool HasAnyDepth(const GlobAlternative& alternative) {
  return std::any_of(alternative.components.begin(), alternative.components.end(),
                     [](const GlobComponent& component) { return component.is_any_depth; });
}

GlobMatcher::GlobMatcher(const std::vector<GlobAlternative>& alternatives, bool case_sensitive) {
  std::map<RuleKind, std::string> expressions;
  for (const GlobAlternative& alternative : alternatives) {
    const bool any_depth = HasAnyDepth(alternative);
    std::string& expression =
        expressions[{any_depth, any_depth && NamesGitDirectory(alternative, case_sensitive),
                     alternative.directories_only, any_depth ? NamedDirectories(alternative) : 0}];
    if (!expression.empty()) expression += '|';
    expression += ToRegex(alternative);
  }
  RE2::Options options;
  options.set_case_sensitive(case_sensitive);
  options.set_max_mem(kMaximumMatcherMemory);
  options.set_log_errors(false);
  for (const auto& [kind, expression] : expressions) {
    auto regex = std::make_unique<re2::RE2>(expression, options);
    if (!regex->ok()) {
      throw support::CallError("The pattern cannot be used (" + regex->error() +
                               "): use a shorter one.");
    }
    rules_.push_back({kind, std::move(regex)});
  }
}

GlobMatcher::~GlobMatcher() = default;
GlobMatcher::GlobMatcher(GlobMatcher&&) noexcept = default;

GlobMatch GlobMatcher::Match(std::string_view path, bool is_directory,
                             std::size_t ignored_names) const {
  GlobMatch match = GlobMatch::kNone;
  for (const Rule& rule : rules_) {
    if (rule.kind.directories_only && !is_directory) continue;
    if (!re2::RE2::FullMatch(re2::StringPiece(path.data(), path.size()), *rule.regex)) continue;
    if (!rule.kind.any_depth) return GlobMatch::kNamed;
    if (!rule.kind.names_git && ContainsGit(path)) continue;
    if (ignored_names > 0 && ignored_names <= rule.kind.named_directories) return GlobMatch::kNamed;
    match = GlobMatch::kFound;
  }
  return match;
}

}  // namespace find
