// SPDX-License-Identifier: Apache-2.0
#include "exposure/git_settings.h"

#include <string>
#include <string_view>

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
    {R"(branch\..+\.(push)?remote)", R"(\.|\w[\w-]*)", "a remote by its name, if that has an address, which is an item"},
    {R"(branch\..+\.merge)", R"(refs/(heads/[^\s:]+|(pull|merge-requests)/\d+/(head|merge)))", "a branch, or a proposed one"},
    {R"(branch\.autosetup(merge|rebase))", "true|false|never|local|remote|always|inherit|simple", "which of these three a new branch has"},
    {R"((branch\..+|pull)\.rebase)", "|true|yes|on|1|false|no|off|0|merges|interactive", "how git pull joins commits"},
    {R"(branch\..+\.(description|vscode-merge-base|gh-merge-base|github-pr-owner-number|gk-[\w-]+)|remote\..+\.gh-resolved)", "(?s:.*)", "words that are shown"},
    {R"(remote\..+\.fetch)", R"([+^]?refs/[^\s:]+(:refs/remotes/[^\s:]*)?)", "sets no branch or tag of yours"},
    {R"(core\.repositoryformatversion)", "0|1", "what git init writes"},
    {R"(core\.bare)", "false|no|off|0", "what git init writes"},
    {R"(core\.(filemode|ignorecase|precomposeunicode|symlinks))", kBoolean, "what git init finds of the file system"},
    {R"(core\.logallrefupdates)", "|true|yes|on|1|false|no|off|0|always", "keeps old ids"},
    {R"(core\.fsmonitor|pager\..+)", kBoolean, "git's own program, or none"},
    {R"(gc\.(auto|autopacklimit|bigpackthreshold|aggressivedepth|aggressivewindow)|core\.(compression|bigfilethreshold|abbrev)|fetch\.parallel|index\.(threads|version)|(diff|merge|status)\.renamelimit|pack\.(depth|window|windowmemory|threads|compression))", kNumber, "sizes"},
    {R"((pull|merge)\.ff)", "|true|yes|on|1|false|no|off|0|only", "how git joins commits; git recommends to set it"},
    {R"(push\.(default|autosetupremote))", "true|false|nothing|current|simple", "git pushes a branch to its own name"},
    {R"((rerere\.(enabled|autoupdate)|fetch\.(prune|writecommitgraph)|advice\..+|lfs\..+\.locksverify))", kBoolean, "switches without a program"},
    // Not instructionFormat: after a %n it can make lines of the list of a rebase, such as "exec".
    {R"(rebase\.(auto(squash|stash)|stat|updaterefs|abbreviatecommands|reschedulefailedexec|forkpoint|backend|missingcommitscheck))", "|true|yes|on|1|false|no|off|0|apply|merge|ignore|warn|error", "how git rebase works"},
    {R"(core\.(autocrlf|eol|safecrlf|quotepath|untrackedcache))", "|true|yes|on|1|false|no|off|0|input|lf|crlf|native|warn|keep", "ends of lines, what is shown, a cache"},
    {R"(commit\.verbose|(diff|status)\.renames|diff\.(algorithm|colormoved)|status\.(short|branch|aheadbehind|relativepaths|displaycommentprefix|showstash))", "[a-z0-9-]*", "words of git on what is shown"},
    {R"(status\.showuntrackedfiles)", "normal|all", "with \"no\", new files would not be seen"},
    {R"(log\.date)", "(auto:)?[a-z0-9-]+", "a format by its name"},
    {R"((branch|tag)\.sort)", "-?(((version|v):)?refname|(author|committer|creator|tagger)date)", "other fields may check signatures"},
    {R"(column\.(ui|branch|clean|status|tag))", "[a-z, ]*", "words of git on what is shown"},
    {R"(color\..+)", R"([\w# -]*)", "colours"},
    {R"(init\.defaultbranch)", R"(\w[\w/-]*)", "the name of a branch; git recommends to set it"},
    {R"(merge\.conflictstyle)", "merge|diff3|zdiff3", "marks in files"},
    {R"(lfs\.repositoryformatversion|lfs\..+\.access)", "0|1|none|basic|negotiate", "what git-lfs writes"},
};
// clang-format on

}  // namespace

std::set<std::string> NotHarmless(const std::vector<std::string>& settings) {
  static const support::Regex harmless = [] {  // key, line feed, value
    std::string expressions;
    for (const Harmless& row : kHarmlessSettings) {
      expressions += (expressions.empty() ? "(?:" : "|(?:") + std::string(row.keys) +
                     ")\n(?:" + std::string(row.values) + ")";
    }
    return support::Regex(expressions, support::Regex::kLatin1);
  }();
  std::set<std::string> all;
  std::set<std::string> keys;
  for (const std::string& setting : settings) all.insert(git::KeyAndValue(setting).first);
  for (const std::string& setting : settings) {
    const auto [key, value] = git::KeyAndValue(setting);
    // Without an address, git takes a remote's name for a path.
    const bool is_remote = key.ends_with(".remote") || key.ends_with(".pushremote");
    const bool is_path = key.starts_with("branch.") && is_remote && value != "." &&
                         !all.contains("remote." + value + ".url");
    if (is_path || !harmless.FullMatch(key + "\n" + value)) keys.insert(key);
  }
  return keys;
}

std::vector<std::string> NamedPaths(const std::string& key, std::string value,
                                    const std::filesystem::path& directory) {
  const std::string whole = value;
  for (char& c : value) {
    if (std::string_view("\t\n\"'`!;&|()=<>").find(c) != std::string_view::npos) c = ' ';
  }
  std::vector<std::string_view> words = support::Words(value);
  words.emplace_back(whole);
  std::vector<std::string> named;
  for (std::string_view word : words) {
    // An argument such as "clean" is no file.
    const bool is_argument = word.data() != words.front().data() && word != whole;
    if (is_argument && word.find('/') == word.npos) continue;
    std::filesystem::path base = directory;
    if (word.starts_with("~/")) {
      base = support::EnvironmentVariable("HOME");
      word.remove_prefix(2);
    }
    if (word.find_first_of("$~/") == 0) {  // as in $PWD/x, ~+/x and $(…)/x
      named.push_back(support::CleanPath((base / word.substr(word.find('/') + 1)).string()));
    }
    if (word.starts_with('-') && word.size() > 2) {  // as in -Fx
      named.push_back(support::CleanPath((base / word.substr(2)).string()));
    }
    std::string path = support::CleanPath((base / word).string());
    // husky's files there run those beside it.
    if (key == "core.hookspath" && path.ends_with("/_")) path = support::ParentPath(path);
    named.push_back(std::move(path));
  }
  return named;
}

}  // namespace exposure
