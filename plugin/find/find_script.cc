#include "find/find_script.h"

#include <fnmatch.h>

#include <algorithm>

#include "find/git_command.h"
#include "shell/shell_quote.h"

namespace find {
namespace {

/// A shell's question whether $status is that of a find that ended by itself.
std::string IsNoSignal() {
  return "[ $status -lt " + std::to_string(kFirstSignalStatus) + " ]";
}

/// The shell function `walk`, which lists the working directory with the selection that it is
/// given.
///
/// GNU's find prints times by itself. BusyBox's and BSD's do not, but stat does; its output lines
/// carry the path, so that a file that vanishes in between moves nothing out of step.
///
/// GNU's way is tried without asking first: a find that does not know -printf says so before it
/// prints anything. Only after a failure, which may be no more than a directory that cannot be
/// read, is it worth a process to find out. Names go to descriptor 3, complaints stay on 2.
std::string WalkFunction() {
  return R"sh(export LC_ALL=C
exec 3>&1 4>&2
walk() {
find . "$@" -printf '%T@ %y %s %p//\n' >&3 && return
status=$?
)sh" + IsNoSignal() +
         R"sh( || return $status
if find . -maxdepth 0 -printf '' >/dev/null 2>&1; then
:
elif [ -n "$(find . -maxdepth 0 -exec stat -c '%Y x%f %s %n//' {} + 2>/dev/null)" ]; then
find . "$@" -exec stat -c '%Y x%f %s %n//' {} + >&3
elif [ -n "$(find . -maxdepth 0 -exec stat -f '%Fm x%Xp %z %N//' {} + 2>/dev/null)" ]; then
find . "$@" -exec stat -f '%Fm x%Xp %z %N//' {} + >&3
else
return )sh" +
         std::to_string(kNoFindStatus) + "\nfi\n}\n";
}

/// $1 is the number of the request, $2 the directory of the repository or its `.git`. Prints to
/// descriptor 4, since find's own output must not be cut in two. Asks git only where there is a
/// repository, and whether the directory itself is ignored only below the top of one.
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
         // Before 2.32 git, when it is to name whole directories, does not enter those that hold
         // nothing tracked.
         "case $(git version) in 'git version 2.'[0-9].*|'git version 2.'[12][0-9].*|"
         "'git version 2.3'[01].*)\n" +
         GitCommand() +
         " ls-files -z -o -i --exclude-standard >&4 2>/dev/null\n"
         "esac\n";
}

/// Leaves out what is called `.git`, and what is in it. GNU's find compares a name slowly enough
/// that of ten thousand one comparison more each is felt (a tenth of the whole).
std::string WithoutGit(const ListingRequest& request, std::size_t number) {
  std::string selection;
  if (request.wants_ignored) {
    // Standard input ends when git has said all of the first repository.
    selection = " -name .git -prune ! -path ./.git -exec sh -c \"cat >/dev/null; $ignored\" sh " +
                std::to_string(number) + " {} \\;";
  } else {
    // Only directories are compared: find knows the type without a look at the file. In
    // parentheses, since it would else compare the name first.
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

std::string Selection(const ListingRequest& request, std::size_t number) {
  std::string selection;
  if (request.maximum_depth) {
    selection += " -maxdepth " + std::to_string(*request.maximum_depth);
  }
  if (!request.enters_git) selection += WithoutGit(request, number);
  if (request.regular_files_only) selection += " -type f";
  if (!request.name_filters.empty()) {
    selection += " \\(";
    for (std::size_t i = 0; i < request.name_filters.size(); ++i) {
      selection += (i > 0 ? " -o -name " : " -name ") + shell::ShellQuote(request.name_filters[i]);
    }
    selection += " \\)";
  }
  return selection;
}

std::string Walk(const ListingRequest& request, std::size_t number) {
  const std::string directory = shell::ShellQuote(request.directory);
  std::string walk = "walk" + Selection(request, number);
  if (request.wants_ignored) {
    // Both at once: git looks through the same directories.
    walk = "(set -- " + std::to_string(number) + " .; eval \"$ignored\") | " + walk;
  }
  return "printf 'walk//\\n'\nif cd -P -- " + directory +
         " 2>/dev/null && [ \"$PWD\" = " + directory + " ]; then\ncomplaints=$({ " + walk +
         "; } 2>&1)\nstatus=$?\n[ $status != " + std::to_string(kNoFindStatus) + " ] && " +
         IsNoSignal() + " || exit $status" +
         "\ncase $complaints in *'Permission denied'*) printf 'failed %s//\\n' \"$complaints\";; "
         "esac\nelif [ -d " +
         directory + " ] && [ ! -x " + directory +
         " ]; then\nprintf 'failed find: .: Permission denied//\\n'\nfi\n";
}

}  // namespace

std::string FindScript(const std::vector<ListingRequest>& requests) {
  std::string script = "cd /\n" + GitEnvironment() +
                       "ignored=" + shell::ShellQuote(IgnoredScript()) + "\n" + WalkFunction();
  for (std::size_t i = 0; i < requests.size(); ++i) script += Walk(requests[i], i);
  return script + "exit 0";
}

}  // namespace find
