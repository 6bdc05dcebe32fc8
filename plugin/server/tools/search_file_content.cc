// SPDX-License-Identifier: Apache-2.0
#include "files/file_problem.h"
#include "find/content_search.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/paths.h"
#include "support/utf8.h"
#include "tools/tools.h"

namespace tools {
namespace {

using support::Format;

/// With `names_only`, options for lines have no effect.
void SetOptions(find::SearchRequest& request, const nlohmann::json& arguments) {
  request.case_sensitive = arguments.value("case_sensitive", true);
  request.fixed_strings = arguments.value("fixed_strings", false);
  request.names_only = arguments.value("names_only", false);
  request.no_ignore = arguments.value("no_ignore", false);
  const auto context = arguments.value("context", std::size_t{0});
  request.before = arguments.value("before", context);
  request.after = arguments.value("after", context);
  request.maximum_per_file = arguments.value("max_matches_per_file", request.maximum_per_file);
  request.maximum_total = arguments.value("total_max_matches", request.maximum_total);
}

void CheckPattern(std::string_view pattern, bool is_plain) {
  if (pattern.empty()) throw support::Error("The pattern is empty: every line would match.");
  if (pattern.size() > kMaxSearchPattern) {
    throw support::Error("The pattern has {} bytes, more than the {} allowed.", pattern.size(),
                         kMaxSearchPattern);
  }
  if (pattern.find_first_of(std::string_view("\0\n", 2)) != std::string_view::npos ||
      (!is_plain && find::NeedsLineBreak(pattern))) {
    throw support::Error(
        "The pattern contains a line break or NUL, but lines are searched one by one. Search for "
        "one of its lines, or write a|b for either of two.");
  }
}

/// Sets where to search: a directory, or one file in it.
void SetTarget(find::SearchRequest& request, const paths::ResolvedPath& path) {
  if (!path.attributes) {
    throw support::Error("There is no file or directory {}. List the directory above it.",
                         path.host);
  }
  request.file.clear();
  if (path.attributes->type == guest::FileType::kDirectory) {
    request.directory = path.guest;
  } else if (path.attributes->type == guest::FileType::kRegular) {
    request.directory = support::ParentPath(path.guest);
    request.file = support::LastComponent(path.guest);
  } else {
    throw support::Error("{} is neither a directory nor a regular file.", path.host);
  }
}

/// Below an empty result: true of every search.
constexpr const char* kNotSearched =
    "Unless `path` names it, a search leaves out what git ignores (see no_ignore), .git, links and "
    "binary files. It finds nothing in UTF-16 text and in files of size 0, as in /proc. Patterns "
    "are Perl's: a|b, not a\\|b.";

}  // namespace

FoundLines SearchFileContent(Task& task) {
  const nlohmann::json& arguments = task.call.arguments;
  find::SearchRequest request;
  request.maximum_output_bytes = LimitsFor(task.call.format).search_bytes;
  request.pattern = arguments.at("pattern").get<std::string>();
  SetOptions(request, arguments);
  CheckPattern(request.pattern, request.fixed_strings);
  std::optional<find::IncludeFilter> include;
  if (arguments.contains("include")) {
    request.include = &include.emplace(arguments["include"].get<std::string>());
  }
  task.LimitSearch();
  const Workspace& workspace = task.workspace();
  const paths::ResolvedPath resolved = workspace.paths->Resolve(
      task.PathOrDefault(), paths::Access::kRead, *workspace.guest, task.context);
  if (!resolved.attributes) {
    files::ProposeLookAlike(Format("There is no file or directory {}", resolved.host), resolved,
                            *workspace.guest, task.context);
  }
  SetTarget(request, resolved);
  if (include && !request.file.empty() && !include->Matches(support::ToUtf8(request.file))) {
    return {.notes = {"The include does not select this file, so it was not searched."}};
  }
  const find::SearchResult found = find::SearchContent(*workspace.guest, request, task.context);
  FoundLines result = {
      .lines = support::ToUtf8(found.lines),
      .notes = {found.warnings.empty() ? "" : Format("The search said: {}", found.warnings),
                workspace.paths->MissingNote(resolved.guest, *workspace.guest, task.context)}};
  if (!found.lines.empty()) return result;
  result.notes.emplace_back(kNotSearched);
  if (include) result.notes.push_back(find::HintIfUnmatched(arguments.value("include", "")));
  return result;
}

}  // namespace tools
