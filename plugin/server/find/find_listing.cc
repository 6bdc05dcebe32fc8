// SPDX-License-Identifier: Apache-2.0
#include "find/find_listing.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <unordered_set>
#include <utility>

#include "find/programs.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/join.h"
#include "support/regex.h"
#include "support/utf8.h"

namespace find {
namespace {

/// Exit status of walk.sh if the guest has neither GNU find, nor another find with a stat command.
constexpr int kNoFindStatus = 97;

constexpr std::string_view kRecordEnd = "//\n";
constexpr std::string_view kWalkBegins = "walk";
constexpr std::string_view kFailed = "failed ";

/// Skips `.git` and its content. Compares only directories: comparing all names takes a tenth of
/// GNU find's time.
std::string WithoutGit(const ListingRequest& request) {
  const auto lets_git_through = [](const std::string& filter) {
    return ::fnmatch(filter.c_str(), ".git", 0) == 0;
  };
  const bool is_filtered =
      !request.name_filters.empty() &&
      std::none_of(request.name_filters.begin(), request.name_filters.end(), lets_git_through);
  return std::string(" -type d \\( -name .git -prune \\) -o") +
         (is_filtered ? "" : " ! -name .git");
}

/// Arguments of find that select names by these filters; "" for none.
std::string NameTests(const std::vector<std::string>& filters) {
  if (filters.empty()) return "";
  std::string tests;
  for (const std::string& filter : filters) {
    tests += (tests.empty() ? " \\( -name " : " -o -name ") + shell::ShellQuote(filter);
  }
  return tests + " \\)";
}

std::string List(const ListingRequest& request, std::size_t number) {
  std::string list = "selected() { walk \"$@\"";
  std::string way = " selected .";
  if (request.maximum_depth) {
    list += " -maxdepth \"$depth\"";
    way = support::Format(" walk_links {}", *request.maximum_depth);
  } else if (request.wants_ignored) {
    way = support::Format(" walk_repository {} {} .", number, request.skips_ignored ? "yes" : "no");
  }
  if (!request.enters_git) list += WithoutGit(request);
  return list + NameTests(request.name_filters) + "; }; list " +
         shell::ShellQuote(request.directory) + way + "; ";
}

/// Prints what ListTrees reads.
///
/// Standard output: records that end with "//\n", which no path that find prints can contain:
///   "walk"                  the next request begins
///   "failed <text>"         find's messages
///   "<time> <type> ./a/b"   a name; seconds with or without a fraction; find's letter of the type,
///                           or 'x' and st_mode in hexadecimal
/// Standard error: lines:
///   "/<number of the request> ./a" git's output for the repository in ./a begins
///   "b/", "c"                      ignored names, relative to ./a, as git quotes them
shell::Script FindScript(const std::vector<ListingRequest>& requests,
                         const std::vector<std::string>& roots) {
  std::string script =
      "begin_listing; roots=" + shell::ShellQuote(support::Join(roots, "\n")) + "; ";
  for (std::size_t i = 0; i < requests.size(); ++i) script += List(requests[i], i);
  return {script + "exit 0", ScriptFunctions()};
}

[[noreturn]] void ThrowTooMany() {
  throw support::Error(
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
  static const support::Regex wrong(R"(//|/\.\.?/|\x00)", support::Regex::kLatin1);
  return path.size() <= kMaxListedPath && !wrong.PartialMatch("/" + std::string(path) + "/");
}

/// Relative to the request's directory, as git quotes them. A name that ends with '/' stands for
/// everything below it.
using IgnoredNames = std::unordered_set<std::string>;

std::vector<IgnoredNames> ParseIgnored(std::string_view text, std::size_t request_count) {
  std::vector<IgnoredNames> ignored(request_count);
  std::size_t request = request_count;
  std::size_t kept = 0;
  std::string prefix;
  while (!text.empty()) {
    std::string_view record = TakeUntil(text, "\n");
    if (record.starts_with('/')) {
      request =
          std::min(request_count - 1, ToNumber<std::size_t>(TakeUntil(record, " ").substr(1)));
      prefix = record.size() < 2 ? "" : std::string(record.substr(2)) + "/";  // "." or "./a"
      // The repository around it may have tracked files there.
      std::erase_if(ignored.at(request),
                    [&](const auto& name) { return !prefix.empty() && name.starts_with(prefix); });
    } else if (request < request_count && !record.empty()) {
      kept += prefix.size() + record.size() + sizeof(std::string);
      if (kept > kMaxListing) ThrowTooMany();
      const std::string quote(record.starts_with('"') ? 1 : 0, '"');
      ignored[request].insert(quote + prefix + std::string(record.substr(quote.size())));
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
    if (ignored.contains(GitQuotedName(name.path.substr(0, at + 1)))) return names;
  }
  if (ignored.contains(GitQuotedName(name.path))) return names;
  const std::string directory = std::string(name.path) + "/";
  return name.is_directory && ignored.contains(GitQuotedName(directory)) ? names : 0;
}

std::string VisitNames(std::string_view text, const std::vector<IgnoredNames>& ignored,
                       const NameVisitor& visit, const support::Context& context) {
  std::string messages;
  std::size_t walks = 0;  // begun so far
  while (!text.empty()) {
    context.ThrowIfStopped();
    std::string_view record = TakeUntil(text, kRecordEnd);
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
      throw support::Error("The guest listed an invalid name.");
    }
    name.ignored_names = IgnoredPart(name, ignored[walks - 1]);
    visit(walks - 1, name);
  }
  return WithoutVanished(messages);
}

}  // namespace

std::string ListTrees(guest::Guest& guest, const std::vector<ListingRequest>& requests,
                      const std::vector<std::string>& roots, const NameVisitor& visit,
                      const support::Context& context) {
  const guest::ScriptOutput listed = guest::CaptureScript(
      guest, FindScript(requests, roots), context, {kMaxListing, kMaxIgnoredListing});
  if (listed.is_too_long) ThrowTooMany();
  if (listed.exit_status == kNoFindStatus) {
    throw support::Error("The guest has no usable find: install findutils in it.");
  }
  if (listed.exit_status != 0) {
    throw support::Error(
        "Listing names in the guest failed{}. Try again.",
        listed.exit_status ? support::Format(" with exit status {}", *listed.exit_status) : "");
  }
  return VisitNames(listed.output, ParseIgnored(listed.error, requests.size()), visit, context);
}

std::string_view ScriptFunctions() {
  static const std::string functions =
      std::string(git_program) + std::string(search_program) + std::string(walk_program);
  return functions;
}

std::string WithoutVanished(std::string messages) {
  // A loop, which links cannot make, is a new directory with the number of one that has vanished.
  static const support::Regex vanished(
      "(?m)^.*(No such file or directory|File system loop detected; .*)\n?",
      support::Regex::kLatin1);
  vanished.ReplaceAll(messages, "");
  return messages;
}

std::string GitQuotedName(std::string_view name) {
  constexpr std::string_view kSpecial = "\a\b\t\n\v\f\r\"\\";
  constexpr std::string_view kLetters = "abtnvfr\"\\";
  std::string quoted = "\"";
  for (const char c : name) {
    const unsigned byte = static_cast<unsigned char>(c);
    if (const auto at = kSpecial.find(c); at != std::string_view::npos) {
      quoted += {'\\', kLetters[at]};
    } else if (byte < 0x20 || byte == 0x7F) {
      std::array<char, 16> octal{};
      std::snprintf(octal.data(), octal.size(), "\\%03o", byte);
      quoted += octal.data();
    } else {
      quoted += c;
    }
  }
  return quoted.size() == 1 + name.size() ? std::string(name) : quoted + '"';
}

}  // namespace find
