#include <fnmatch.h>

#include <algorithm>

#include "find/find_listing.h"
#include "find/git_command.h"
#include "shell/shell_quote.h"

namespace find {
namespace {

/// The shell function `walk` lists the working directory; its arguments are a selection. Names go
/// to descriptor 3, complaints stay on 2.
///
/// GNU's find prints times by itself. For BusyBox's and BSD's, stat does; its lines carry the path,
/// so a file that vanishes in between shifts nothing. GNU's form is tried first: a find without
/// -printf fails before it prints anything.
std::string WalkFunction() {
  return R"sh(export LC_ALL=C
exec 3>&1 4>&2
walk() {
find . "$@" -printf '%T@ %y %p//\n' >&3 && return
status=$?
if find . -maxdepth 0 -printf '' >/dev/null 2>&1; then
return $status
elif [ -n "$(find . -maxdepth 0 -exec stat -c '%Y x%f %n//' {} + 2>/dev/null)" ]; then
find . "$@" -exec stat -c '%Y x%f %n//' {} + >&3
elif [ -n "$(find . -maxdepth 0 -exec stat -f '%Fm x%Xp %N//' {} + 2>/dev/null)" ]; then
find . "$@" -exec stat -f '%Fm x%Xp %N//' {} + >&3
else
return )sh" +
         std::to_string(kNoFindStatus) + "\nfi\n}\n";
}

/// $1 is the number of the request, $2 the directory of the repository or its `.git`. Prints to
/// descriptor 4, as find's own output must not be cut in two. Below the top of a repository the
/// directory itself may be ignored; then nothing in it is.
std::string IgnoredScript() {
  return R"sh(repository=${2%/.git}
cd -- "$repository" 2>/dev/null || exit 0
if [ ! -f .git ] && [ ! -f .git/HEAD ]; then
above=$PWD
while [ ! -e "$above/.git" ]; do
[ -n "$above" ] || exit 0
above=${above%/*}
done
)sh" + GitCommand() +
         " check-ignore --no-index -q . 2>/dev/null\n"
         "[ $? = 1 ] || exit 0\n"
         "fi\n"
         "printf '/%s %s\\0' \"$1\" \"$repository\" >&4\n" +
         GitCommand() +
         " ls-files -z -o -i --exclude-standard --directory >&4 2>/dev/null\n"
         // Before 2.32, git with --directory skips directories that hold nothing tracked.
         "case $(git version) in 'git version 2.'[0-9].*|'git version 2.'[12][0-9].*|"
         "'git version 2.3'[01].*)\n" +
         GitCommand() +
         " ls-files -z -o -i --exclude-standard >&4 2>/dev/null\n"
         "esac\n";
}

/// Leaves out what is called `.git`, and what is in it.
std::string WithoutGit(const ListingRequest& request, std::size_t number) {
  std::string selection;
  if (request.wants_ignored) {
    // Standard input ends when git has answered for the first repository.
    selection = " -name .git -prune ! -path ./.git -exec sh -c \"cat >/dev/null; $ignored\" sh " +
                std::to_string(number) + " {} \\;";
  } else {
    // GNU's find compares names slowly (a tenth of the whole), so only directories are compared.
    selection = " -type d \\( -name .git -prune \\)";
  }
  const auto lets_git_through = [](const std::string& filter) {
    return ::fnmatch(filter.c_str(), ".git", 0) == 0;
  };
  const bool is_filtered =
      !request.name_filters.empty() &&
      std::none_of(request.name_filters.begin(), request.name_filters.end(), lets_git_through);
  return selection + (is_filtered ? " -o" : " -o ! -name .git");
}

std::string Walk(const ListingRequest& request, std::size_t number) {
  const std::string directory = shell::ShellQuote(request.directory);
  std::string walk = "walk";
  if (request.maximum_depth) walk += " -maxdepth " + std::to_string(*request.maximum_depth);
  if (!request.enters_git) walk += WithoutGit(request, number);
  walk += NameTests(request.name_filters);
  if (request.wants_ignored) {
    // Both at once: git looks through the same directories.
    walk = "(set -- " + std::to_string(number) + " .; eval \"$ignored\") | " + walk;
  }
  // Exit status 1: some directories could not be read.
  return "printf 'walk//\\n'\nif cd -P -- " + directory +
         " 2>/dev/null && [ \"$PWD\" = " + directory + " ]; then\ncomplaints=$({ " + walk +
         "; } 2>&1)\nstatus=$?\n[ $status -le 1 ] || exit $status\n"
         "case $complaints in *'Permission denied'*) printf 'failed %s\\n//\\n' \"$complaints\";; "
         "esac\nelif [ -d " +
         directory + " ] && [ ! -x " + directory +
         " ]; then\nprintf 'failed %s: Permission denied\\n//\\n' " + directory + "\nfi\n";
}

}  // namespace

std::string FindScript(const std::vector<ListingRequest>& requests) {
  std::string script = "cd /\n" + GitEnvironment() +
                       "ignored=" + shell::ShellQuote(IgnoredScript()) + "\n" + WalkFunction();
  for (std::size_t i = 0; i < requests.size(); ++i) script += Walk(requests[i], i);
  return script + "exit 0";
}

std::string NameTests(const std::vector<std::string>& filters) {
  if (filters.empty()) return "";
  std::string tests;
  for (const std::string& filter : filters) {
    tests += (tests.empty() ? " \\( -name " : " -o -name ") + shell::ShellQuote(filter);
  }
  return tests + " \\)";
}

}  // namespace find
