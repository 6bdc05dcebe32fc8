#include "tools/search_file_content.h"

#include <optional>
#include <string>
#include <string_view>

#include "find/file_scan.h"
#include "find/git_grep.h"
#include "find/include_filter.h"
#include "support/errors.h"
#include "support/paths.h"
#include "support/utf8.h"
#include "tools/contract.h"
#include "tools/search_limits.h"

namespace tools {
namespace {

void CheckPattern(std::string_view pattern) {
  if (pattern.empty()) throw support::CallError("The pattern is empty: every line would match.");
  if (pattern.size() > kMaximumSearchPattern) {
    throw support::CallError("The pattern has " + std::to_string(pattern.size()) +
                             " bytes, more than the " + std::to_string(kMaximumSearchPattern) +
                             " allowed.");
  }
  if (pattern.find('\0') != std::string_view::npos) {
    throw support::CallError("The pattern holds a NUL character, which no text file does.");
  }
  if (pattern.find('\n') != std::string_view::npos) {
    throw support::CallError(
        "The pattern holds a line break, but lines are searched one by one. Search for one of its "
        "lines, or write a|b for either of two.");
  }
}

/// Where to search: a directory, or one file in it.
struct Place {
  std::string directory;
  std::string file;
};

Place PlaceOf(const paths::ResolvedPath& path) {
  if (!path.attributes) {
    throw support::CallError("There is no file or directory " + path.host + ".");
  }
  if (path.attributes->type == guest::FileType::kDirectory) return {path.guest, ""};
  if (path.attributes->type != guest::FileType::kRegular) {
    throw support::CallError(path.host + " is neither a directory nor a regular file.");
  }
  return {support::ParentPath(path.guest), std::string(support::LastComponent(path.guest))};
}

/// Returns what is worth telling beside the lines found.
std::string Search(const Workspace& workspace, const Place& place, const std::string& pattern,
                   const find::IncludeFilter* include, find::GrepOutput& output,
                   const support::Context& context) {
  find::GitGrepRequest request{place.directory, pattern, {"."}, place.file.empty()};
  if (include != nullptr) {
    request.pathspecs = include->pathspecs();
    request.include = include;
  }
  if (!place.file.empty()) request.pathspecs = {":(literal)" + place.file};
  const find::GitGrepResult git = find::GitGrep(*workspace.guest, request, output, context);
  if (git.has_git) return git.warnings.empty() ? "" : "git said: " + git.warnings;

  const find::ScanRequest scan{place.directory, place.file, pattern, include};
  const find::ScanResult result = find::ScanFiles(*workspace.guest, scan, output, context);
  std::string note =
      "The guest has no git: the files were read and matched with RE2's regular expressions, and "
      "those that git would ignore were searched too.";
  if (result.too_large > 0) {
    note += " Not searched, because larger than " +
            std::to_string(find::kMaximumScannedFile >> 20U) +
            " MiB: " + std::to_string(result.too_large) + " files.";
  }
  if (result.too_long > 0) {
    note += " Not searched, because too long for so large a pattern: " +
            std::to_string(result.too_long) + " lines.";
  }
  if (result.unreadable > 0) {
    note += " Could not be read: " + std::to_string(result.unreadable) + " files.";
  }
  if (result.gaps.count > 0) note += "\n" + GapsNote(result.gaps, *workspace.paths);
  return note;
}

}  // namespace

const mcp::ToolDefinition& SearchFileContentTool::definition() const {
  return Definition("search_file_content");
}

mcp::ToolResult SearchFileContentTool::Call(const mcp::ToolCall& call) {
  const std::string pattern = call.arguments.at("pattern").get<std::string>();
  CheckPattern(pattern);
  std::optional<find::IncludeFilter> include;
  if (const auto text = OptionalText(call.arguments, "include")) include.emplace(*text);
  const std::optional<std::string> path = OptionalText(call.arguments, "path");

  const auto search = [&](const Workspace& workspace, const support::Context& context) {
    const paths::ResolvedPath resolved =
        workspace.paths->Resolve(path ? *path : workspace.paths->DefaultDirectory(),
                                 paths::Access::kRead, *workspace.guest, context);
    const Place place = PlaceOf(resolved);
    mcp::ToolResult result;
    result.structured = {{"git_grep_output", ""}};
    if (include && !place.file.empty() && !include->Matches(support::ToUtf8(place.file))) {
      return result;
    }
    find::GrepOutput output(options_.maximum_output_bytes);
    const std::string note =
        Search(workspace, place, pattern, include ? &*include : nullptr, output, context);
    result.structured["git_grep_output"] = support::ToUtf8(output.Finish());
    AddNote(result, note);
    AddNote(result, resolved.stale_note);
    AddNote(result, workspace.paths->MissingNote(resolved.guest, *workspace.guest, context));
    return result;
  };
  return WithTimeLimit(
      "The search", options_.time_limit, call.context, [&](const support::Context& context) {
        return WithWorkspace(workspaces_, context, call.progress, [&](const Workspace& workspace) {
          return search(workspace, context);
        });
      });
}

}  // namespace tools
