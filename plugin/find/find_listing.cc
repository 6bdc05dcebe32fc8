#include "find/find_listing.h"

#include <fnmatch.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <unordered_set>
#include <utility>

#include "find/script_functions.h"
#include "shell/shell_quote.h"
#include "support/errors.h"

namespace find {
namespace {

/// Exit status of walk.sh if the guest has neither GNU find, nor another find with a stat command.
constexpr int kNoFindStatus = 97;

constexpr std::string_view kRecordEnd = "//\n";
constexpr std::string_view kWalkBegins = "walk";
constexpr std::string_view kFailed = "failed ";

/// Skips `.git` and its content.
std::string WithoutGit(const ListingRequest& request, std::size_t number) {
  std::string selection;
  if (request.wants_ignored) {
    selection = " -name .git -prune ! -path ./.git -exec sh -c \"$ignored_program\" sh " +
                std::to_string(number) + " {} \\;";
  } else {
    // Compares only directories: comparing all names takes a tenth of GNU find's time.
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

std::string List(const ListingRequest& request, std::size_t number) {
  std::string list =
      "list " + shell::ShellQuote(request.directory) +
      (request.wants_ignored ? " walk_and_ask_git " + std::to_string(number) : " walk");
  if (request.maximum_depth) list += " -maxdepth " + std::to_string(*request.maximum_depth);
  if (!request.enters_git) list += WithoutGit(request, number);
  return list + NameTests(request.name_filters) + "; ";
}

/// Prints what ListTrees reads.
///
/// Standard output: records that end with "//\n", which no path that find prints can contain:
///   "walk"                  the next request begins
///   "failed <text>"         find's messages about directories that it cannot read
///   "<time> <type> ./a/b"   a name; seconds with or without a fraction; find's letter of the type,
///                           or 'x' and st_mode in hexadecimal
/// Standard error: records that end with NUL:
///   "/<number of the request> ./a" git's output for the repository in ./a begins
///   "b/", "c"                      ignored names, relative to ./a
shell::Script FindScript(const std::vector<ListingRequest>& requests) {
  std::string script = "begin_listing; ";
  for (std::size_t i = 0; i < requests.size(); ++i) script += List(requests[i], i);
  return {script + "exit 0", ScriptFunctions()};
}

[[noreturn]] void ThrowTooMany() {
  throw support::CallError(
      "There are too many names to search. Give a path or a pattern that begins deeper in the "
      "tree.");
}

std::string_view TakeUntil(std::string_view& text, std::string_view end) {
  const std::size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
  return taken;
}

template <typename Number>
Number ToNumber(std::string_view text, int base = 10) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

std::int64_t ParseTime(std::string_view text) {
  constexpr std::int64_t kFarthest = 9'000'000'000;  // the years 1684 to 2255
  const auto seconds = ToNumber<std::int64_t>(TakeUntil(text, "."));
  std::string fraction(text.substr(0, 9));
  fraction.resize(9, '0');
  return std::clamp(seconds, -kFarthest, kFarthest) * 1'000'000'000 +
         ToNumber<std::uint32_t>(fraction);
}

bool IsDirectory(std::string_view type) {
  return type == "d" ||
         (type.starts_with('x') && guest::FileTypeOf(ToNumber<std::uint32_t>(type.substr(1), 16)) ==
                                       guest::FileType::kDirectory);
}

ListedName ParseName(std::string_view record) {
  ListedName name;
  name.modified = ParseTime(TakeUntil(record, " "));
  name.is_directory = IsDirectory(TakeUntil(record, " "));
  name.path = record.substr(std::min(record.size(), std::string_view("./").size()));
  return name;
}

/// Whether `path` is below its directory: a lying guest must not name files elsewhere.
bool IsBelow(std::string_view path) {
  static const re2::RE2 wrong(R"(//|/\.\.?/|\x00)", re2::RE2::Latin1);
  return path.size() <= kMaxListedPath &&
         !re2::RE2::PartialMatch("/" + std::string(path) + "/", wrong);
}

/// Relative to the request's directory. A name that ends with '/' stands for everything below it.
using IgnoredNames = std::unordered_set<std::string>;

std::vector<IgnoredNames> ParseIgnored(std::string_view text, std::size_t request_count) {
  constexpr std::string_view kEnd("\0", 1);
  std::vector<IgnoredNames> ignored(request_count);
  std::size_t request = request_count;
  std::size_t kept = 0;
  std::string prefix;
  while (!text.empty()) {
    std::string_view record = TakeUntil(text, kEnd);
    if (record.starts_with('/')) {
      request = ToNumber<std::size_t>(TakeUntil(record, " ").substr(1));
      prefix = record.size() < 2 ? "" : std::string(record.substr(2)) + "/";  // "." or "./a"
    } else if (request < request_count) {
      kept += prefix.size() + record.size() + sizeof(std::string);
      if (kept > kMaxListing) ThrowTooMany();
      ignored[request].insert(prefix + std::string(record));
    }
  }
  return ignored;
}

/// Returns ListedName::ignored_names.
std::size_t IgnoredPart(const ListedName& name, const IgnoredNames& ignored) {
  if (ignored.empty()) return 0;
  std::size_t names = 1;
  for (std::size_t at = name.path.find('/'); at != std::string_view::npos;
       at = name.path.find('/', at + 1), ++names) {
    if (ignored.contains(std::string(name.path.substr(0, at + 1)))) return names;
  }
  std::string path(name.path);
  if (ignored.contains(path)) return names;
  return name.is_directory && ignored.contains(path += '/') ? names : 0;
}

std::string VisitNames(std::string_view text, const std::vector<IgnoredNames>& ignored,
                       const NameVisitor& visit, const support::Context& context) {
  std::string messages;
  std::size_t walks = 0;  // begun so far
  while (!text.empty()) {
    context.ThrowIfStopped();
    const std::string_view record = TakeUntil(text, kRecordEnd);
    if (record == kWalkBegins) {
      ++walks;
      continue;
    }
    if (walks == 0 || walks > ignored.size()) continue;
    if (record.starts_with(kFailed)) {
      messages += record.substr(kFailed.size(), kMaxMessages - messages.size());
      continue;
    }
    ListedName name = ParseName(record);
    const bool is_directory_itself = name.path.empty();
    if (is_directory_itself) continue;
    if (!IsBelow(name.path)) {
      throw support::CallError("The guest listed an invalid name.");
    }
    name.ignored_names = IgnoredPart(name, ignored[walks - 1]);
    visit(walks - 1, name);
  }
  return messages;
}

}  // namespace

std::string ListTrees(guest::Guest& guest, const std::vector<ListingRequest>& requests,
                      const NameVisitor& visit, const support::Context& context) {
  const guest::ScriptOutput listed =
      guest::CaptureScript(guest, FindScript(requests), context, {kMaxListing, kMaxIgnoredListing});
  if (listed.is_too_long) ThrowTooMany();
  if (listed.exit_status == kNoFindStatus) {
    throw support::CallError("The guest has no usable find: install findutils in it.");
  }
  if (listed.exit_status != 0) {
    throw support::CallError("Listing names in the guest failed" +
                             (listed.exit_status
                                  ? " with exit status " + std::to_string(*listed.exit_status)
                                  : std::string()) +
                             ". Try again.");
  }
  return VisitNames(listed.output, ParseIgnored(listed.error, requests.size()), visit, context);
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
