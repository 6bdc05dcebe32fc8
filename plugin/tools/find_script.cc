#include "tools/find_script.h"

#include "tools/git_command.h"
#include "tools/shell_quote.h"

namespace tools {
namespace {

/// GNU's find prints times by itself. BusyBox's and BSD's do not, but stat does; its output lines
/// carry the path, so that a file that vanishes in between moves nothing out of step.
constexpr std::string_view kNames = R"sh(export LC_ALL=C
exec 4>&2
if find . -maxdepth 0 -printf '' >/dev/null 2>&1; then
names() { find . "$@" -printf '%T@ %y %s %p//\n' 2>/dev/null; }
elif [ -n "$(find . -maxdepth 0 -exec stat -c '%Y x%f %s %n//' {} + 2>/dev/null)" ]; then
names() { find . "$@" -exec stat -c '%Y x%f %s %n//' {} + 2>/dev/null; }
elif [ -n "$(find . -maxdepth 0 -exec stat -f '%Fm x%Xp %z %N//' {} + 2>/dev/null)" ]; then
names() { find . "$@" -exec stat -f '%Fm x%Xp %z %N//' {} + 2>/dev/null; }
else
exit )sh";

/// $1 is the number of the request, $2 the directory of the repository or its `.git`. Prints to
/// descriptor 4, since find's own output must not be cut in two.
std::string IgnoredScript() {
  return "repository=${2%/.git}\n"
         "cd -- \"$repository\" 2>/dev/null || exit 0\n" +
         GitCommand() +
         " check-ignore --no-index -q . 2>/dev/null && exit 0\n"
         "printf '/%s %s\\0' \"$1\" \"$repository\" >&4\n" +
         GitCommand() + " ls-files -z -o -i --exclude-standard --directory >&4 2>/dev/null\n";
}

std::string Selection(const ListingRequest& request, std::size_t number) {
  std::string selection;
  if (request.maximum_depth) {
    selection += " -maxdepth " + std::to_string(*request.maximum_depth);
  }
  if (!request.enters_git) {
    selection += " -name .git -prune";
    if (request.wants_ignored) {
      selection += " -exec sh -c \"$ignored\" sh " + std::to_string(number) + " {} \\;";
    }
    selection += " -o ! -name .git";
  }
  if (request.regular_files_only) selection += " -type f";
  if (!request.name_filters.empty()) {
    selection += " \\(";
    for (std::size_t i = 0; i < request.name_filters.size(); ++i) {
      selection += (i > 0 ? " -o -name " : " -name ") + ShellQuote(request.name_filters[i]);
    }
    selection += " \\)";
  }
  return selection;
}

std::string Walk(const ListingRequest& request, std::size_t number) {
  const std::string directory = ShellQuote(request.directory);
  std::string walk = "printf 'walk//\\n'\nif cd -P -- " + directory +
                     " 2>/dev/null && [ \"$PWD\" = " + directory + " ]; then\n";
  if (request.wants_ignored) {
    // Where find meets ./.git itself it asks there.
    if (!request.enters_git) walk += "[ -e .git ] || ";
    walk += "sh -c \"$ignored\" sh " + std::to_string(number) + " .\n";
  }
  return walk + "names" + Selection(request, number) + "\nfi\n";
}

}  // namespace

std::string FindScript(const std::vector<ListingRequest>& requests) {
  std::string script = "cd /\n" + GitEnvironment() + "ignored=" + ShellQuote(IgnoredScript()) +
                       "\n" + std::string(kNames) + std::to_string(kNoFindStatus) + "\nfi\n";
  for (std::size_t i = 0; i < requests.size(); ++i) script += Walk(requests[i], i);
  // What find could not enter is not an error.
  return script + "exit 0";
}

}  // namespace tools
