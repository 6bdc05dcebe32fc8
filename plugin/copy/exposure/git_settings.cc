// SPDX-License-Identifier: Apache-2.0
#include "exposure/git_settings.h"

#include <string>
#include <string_view>
#include <utility>

#include "git/git.h"
#include "support/environment.h"
#include "support/paths.h"
#include "support/regex.h"
#include "support/words.h"

namespace exposure {
namespace {

struct Harmless {
  std::string_view keys;  ///< a regular expression
  std::string_view values;
  std::string_view reason;
};

constexpr std::string_view kBoolean = "|true|yes|on|1|false|no|off|0";
constexpr std::string_view kNumber = "-?[0-9]+[kKmMgG]?";

// clang-format off
constexpr Harmless kHarmlessSettings[] = {
    {R"(user\.(name|email))", "(?s:.*)", "words in commits"},
    {R"(branch\.autosetup(merge|rebase))", "true|false|never|local|remote|always|inherit|simple", "which of these three a new branch has"},
    {R"((branch\..+|pull)\.rebase)", "|true|yes|on|1|false|no|off|0|merges|interactive", "how git pull joins commits"},
    {R"(branch\..+\.(description|vscode-merge-base|gh-merge-base|github-pr-owner-number|gk-[\w-]+))", "(?s:.*)", "words that are shown"},
    {R"(remote\..+\.gh-resolved)", "base", "gh asks the repository itself"},
    {R"(remote\..+\.fetch)", R"([+^]?refs/heads/[^\s:]+)", "sets no branch"},
    {R"(core\.repositoryformatversion)", "0|1", "what git init writes"},
    {R"(core\.bare)", "false|no|off|0", "what git init writes"},
    {R"(core\.(filemode|ignorecase|precomposeunicode|symlinks))", kBoolean, "what git init finds of the file system"},
    {R"(core\.logallrefupdates)", "|true|yes|on|1|false|no|off|0|always", "keeps old ids"},
    {R"(core\.fsmonitor|pager\..+)", kBoolean, "git's own program, or none"},
    {R"(gc\.(auto|autopacklimit|bigpackthreshold|aggressivedepth|aggressivewindow)|core\.(compression|bigfilethreshold|abbrev)|fetch\.parallel|index\.(threads|version)|(diff|merge|status)\.renamelimit|pack\.(depth|window|windowmemory|threads|compression))", kNumber, "sizes"},
    {R"((pull|merge)\.ff)", "|true|yes|on|1|false|no|off|0|only", "how git joins commits; git recommends to set it"},
    {R"(push\.(default|autosetupremote))", "true|false|nothing|current|simple", "git pushes a branch to its own name"},
    {R"((fetch\.(prune|writecommitgraph)|advice\..+|lfs\..+\.locksverify))", kBoolean, "switches without a program"},
    // Not instructionFormat: after a %n it can make lines of the list of a rebase, such as "exec".
    {R"(rebase\.(auto(squash|stash)|stat|updaterefs|abbreviatecommands|reschedulefailedexec|forkpoint|backend|missingcommitscheck))", "|true|yes|on|1|false|no|off|0|apply|merge|ignore|warn|error", "how git rebase works"},
    {R"(core\.(autocrlf|eol|safecrlf|quotepath|untrackedcache))", "|true|yes|on|1|false|no|off|0|input|lf|crlf|native|warn|keep", "ends of lines, what is shown, a cache"},
    {R"(commit\.verbose|(diff|status)\.renames|diff\.(algorithm|colormoved)|status\.(short|branch|aheadbehind|relativepaths|displaycommentprefix|showstash))", "[a-z0-9-]*", "words of git on what is shown"},
    {R"(status\.showuntrackedfiles)", "normal|all", "with \"no\", new files would not be seen"},
    {R"(log\.date)", "(auto:)?[a-z0-9-]+", "a format by its name"},
    {R"((branch|tag)\.sort)", "-?(((version|v):)?refname|(author|committer|creator|tagger)date)", "other fields may check signatures"},
    {R"(column\.(ui|branch|clean|status|tag))", "[a-z, ]*", "words of git on what is shown"},
    // With two, which may be equal, text is not seen.
    {R"(color\..+)", R"(((no-?)?(bold|dim|ul|blink|reverse|italic|strike)\s+)*[\w#-]*(\s+(no-?)?(bold|dim|ul|blink|reverse|italic|strike))*)", "attributes, and one colour"},
    {R"(init\.defaultbranch)", R"(\w[\w/-]*)", "the name of a branch; git recommends to set it"},
    {R"(merge\.conflictstyle)", "merge|diff3|zdiff3", "marks in files"},
    {R"(safe\.directory)", "(?s:.*)", "whose repositories git trusts; obeyed in the user's own files only"},
    {R"(lfs\.repositoryformatversion|lfs\..+\.access)", "0|1|none|basic|negotiate", "what git-lfs writes"},
};
// clang-format on

/// Whether `git remote add` writes it: each branch of the remote under its own name.
bool IsUsualFetch(const std::string& setting) {
  static const support::Regex usual(
      R"(remote\.(.+)\.fetch\n\+?refs/heads/(\S+):refs/remotes/(\S+))", support::Regex::kLatin1);
  std::string remote;
  std::string source;
  std::string target;
  return usual.FullMatch(setting, &remote, &source, &target) && target == remote + "/" + source;
}

/// Whether it is an upstream as `git switch` or `gh pr checkout` sets one.
bool IsUpstream(const std::string& setting) {
  static const support::Regex upstream(
      R"(branch\..+\.((push)?remote\n(\.|\w[\w-]*))"
      R"(|merge\nrefs/(heads/[^\s:]+|(pull|merge-requests)/\d+/(head|merge))))",
      support::Regex::kLatin1);
  return upstream.FullMatch(setting);
}

}  // namespace

std::map<std::string, Setting> NotHarmless(const std::vector<std::string>& settings) {
  static const support::Regex harmless = [] {  // key, line feed, value
    std::string expressions;
    for (const Harmless& row : kHarmlessSettings) {
      expressions += (expressions.empty() ? "(?:" : "|(?:") + std::string(row.keys) +
                     ")\n(?:" + std::string(row.values) + ")";
    }
    return support::Regex(expressions, support::Regex::kLatin1);
  }();
  std::map<std::string, Setting> all;
  for (const std::string& setting : settings) {
    auto [key, value] = git::KeyAndValue(setting);
    all[key].values.push_back(std::move(value));
  }
  std::map<std::string, Setting> some;
  for (const auto& [key, setting] : all) {
    const std::string remote = key.substr(0, key.rfind('.')) + ".remote";
    const auto same = key.ends_with(".pushremote") ? all.find(remote) : all.end();
    bool is_harmless = true;
    bool is_upstream = true;
    for (const std::string& value : setting.values) {
      const std::string text = key + "\n" + value;
      is_harmless = is_harmless && (harmless.FullMatch(text) || IsUsualFetch(text));
      // Without an address, git takes a remote's name for a path.
      const bool is_name =
          !key.ends_with("remote") || value == "." || all.contains("remote." + value + ".url");
      is_upstream = is_upstream && is_name && IsUpstream(text);
    }
    // It may push to where it pulls from.
    is_harmless =
        is_harmless || (is_upstream && same != all.end() && same->second.values == setting.values);
    if (!is_harmless) some[key] = {setting.values, is_upstream};
  }
  return some;
}

std::vector<std::string> NamedPaths(const std::string& key, const std::string& value,
                                    const std::filesystem::path& directory) {
  std::string text = value;
  for (char& c : text) {
    if (std::string_view("\t\n\"'`!;&|()<>=$").find(c) != std::string_view::npos) c = ' ';
  }
  std::vector<std::string_view> words = support::Words(text);
  words.insert(words.begin(), value);
  std::vector<std::string> named;
  const auto add = [&](const std::filesystem::path& base, std::string_view path) {
    named.push_back(support::CleanPath((base / path).string()));
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::size_t slash = word.find('/');
    // An argument such as "clean" is no file.
    if (i > 1 && slash == word.npos) continue;
    add(directory, word);
    if (word.starts_with("~/")) add(support::EnvironmentVariable("HOME"), word.substr(2));
    // As in $PWD/x, ~+/x and $(…)/x.
    if (slash != word.npos) add(directory, word.substr(slash + 1));
    if (word.starts_with('-') && word.size() > 2) add(directory, word.substr(2));  // as in -Fx
  }
  // husky's files there run those beside it.
  if (key == "core.hookspath" && value.ends_with("/_")) add(directory, support::ParentPath(value));
  return named;
}

}  // namespace exposure
