// SPDX-License-Identifier: Apache-2.0
#include "find/glob.h"

#include <algorithm>
#include <set>
#include <utility>

#include "files/file_problem.h"
#include "find/find_listing.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/paths.h"
#include "support/printable.h"
#include "support/utf8.h"
#include "tools/tools.h"

namespace tools {
namespace {

/// Matches that the error for too many shows.
constexpr std::size_t kShownGlobMatches = 100;

/// Bytes of matches that are kept to be compared.
constexpr std::size_t kMaxKeptMatches = std::size_t{128} << 20;

/// Its time in nanoseconds before 1970, so that the newest sorts first, and its path on the host.
using Match = std::pair<std::int64_t, std::string>;

void RefuseTooMany(const std::vector<Match>& matches) {
  if (matches.size() <= kMaxGlobMatches) return;
  std::string text = support::Format(
      "{} names match, more than the {} that can be returned. Narrow it with a path deeper in the "
      "tree or a more specific pattern, such as \"src/**/*.cc\". The newest {} are:",
      matches.size(), kMaxGlobMatches, kShownGlobMatches);
  for (std::size_t i = 0; i < kShownGlobMatches; ++i) {
    text += "\n" + support::Printable(matches[i].second);
  }
  throw support::Error(text);
}

/// One glob call, from its arguments to its matches.
class GlobCall {
 public:
  explicit GlobCall(Task& task) : task_(task) {}

  Matches Find(const std::vector<find::GlobWalk>& walks) {
    // All or none of them: a name found both ways would have two times.
    is_flat_ = std::all_of(walks.begin(), walks.end(), [](const find::GlobWalk& walk) {
      return walk.listing.maximum_depth == 1;
    });
    for (const find::GlobWalk& walk : walks) AddWalk(walk);
    // Only the directory that the pattern begins with may be missing.
    if (walks_.empty() && (has_path_ || !base_.empty())) ResolveBase();
    is_flat_ ? ListFlat() : ListDeep();
    std::sort(matches_.begin(), matches_.end());
    matches_.erase(std::unique(matches_.begin(), matches_.end()), matches_.end());
    RefuseTooMany(matches_);
    Matches result{.notes = {notes_.begin(), notes_.end()}};
    for (auto& [time, match] : matches_) result.paths.push_back(std::move(match));
    return result;
  }

 private:
  struct ResolvedWalk {
    paths::ResolvedPath directory;
    const find::GlobWalk* plan;
  };

  const std::string& Base() {
    if (base_.empty()) base_ = task_.PathOrDefault();
    return base_;
  }

  paths::ResolvedPath Resolve(const std::string& path) {
    return workspace_.paths->Resolve(path, is_flat_ ? paths::Access::kList : paths::Access::kRead,
                                     *workspace_.guest, context_);
  }

  void Note(const std::string& text) {
    if (!text.empty()) notes_.insert(text);
  }

  /// Throws unless the call's path is a directory.
  paths::ResolvedPath ResolveBase() {
    paths::ResolvedPath base = Resolve(Base());
    files::RequireDirectory(base, *workspace_.guest, context_);
    return base;
  }

  void AddWalk(const find::GlobWalk& walk) {
    const bool is_absolute = walk.directory.starts_with('/');
    paths::ResolvedPath directory =
        walk.directory.empty()
            ? ResolveBase()
            : Resolve(is_absolute ? walk.directory : Base() + "/" + walk.directory);
    const auto& found = directory.attributes;
    if (!found || found->type != guest::FileType::kDirectory) return;
    if (is_absolute && has_path_ && !support::PathBelow(directory.guest, ResolveBase().guest)) {
      throw support::Error(
          "The pattern begins with {}, which is not inside the path {}. Leave one of them out.",
          directory.host, ResolveBase().host);
    }
    Note(workspace_.paths->MissingNote(directory.guest, *workspace_.guest, context_));
    walks_.push_back({std::move(directory), &walk});
  }

  /// Lists each directory over SFTP.
  void ListFlat() {
    for (const ResolvedWalk& walk : walks_) {
      try {
        for (const auto& entry : files::NamesIn(walk.directory, *workspace_.guest, context_)) {
          Visit(walk, {.path = entry.name,
                       .is_directory = entry.attributes.type == guest::FileType::kDirectory,
                       .modified = entry.attributes.modified * 1'000'000'000});
        }
      } catch (const guest::FileError& error) {
        if (error.code() == guest::FileErrorCode::kNotFound) continue;  // it has vanished
        if (error.code() != guest::FileErrorCode::kPermissionDenied) throw;
        NoteGaps(support::Format("{}: Permission denied", walk.directory.host));
      }
    }
  }

  /// Lists all directories with one find.
  void ListDeep() {
    std::vector<find::ListingRequest> requests;
    for (const ResolvedWalk& walk : walks_) {
      find::ListingRequest request = walk.plan->listing;
      request.directory = walk.directory.guest;
      requests.push_back(std::move(request));
    }
    if (requests.empty()) return;
    NoteGaps(find::ListTrees(
        *workspace_.guest, requests, workspace_.paths->RootsInGuest(),
        [&](std::size_t request, const find::ListedName& name) { Visit(walks_[request], name); },
        context_));
  }

  void NoteGaps(const std::string& messages) {
    if (messages.empty()) return;
    Note(support::Format(
        "The guest's user may not look at everything, so names may be missing here:\n{}",
        messages));
  }

  void Visit(const ResolvedWalk& walk, const find::ListedName& name) {
    const std::string path = support::ToUtf8(name.path);
    if (!walk.plan->matcher.Matches(path, name.is_directory, name.ignored_names)) return;
    const std::string guest_path = support::JoinPath(walk.directory.guest, name.path);
    matches_.emplace_back(-name.modified, support::ToUtf8(workspace_.paths->ToHost(guest_path)));
    kept_ += sizeof(Match) + matches_.back().second.size();
    if (kept_ > kMaxKeptMatches) {
      throw support::Error(
          "More names match than can be compared. Give a path or a pattern that begins deeper "
          "in the tree.");
    }
  }

  Task& task_;
  const bool has_path_ = task_.call.arguments.contains("path");
  std::string base_;  ///< that or the default, once it is needed
  const Workspace& workspace_ = task_.workspace();
  const support::Context& context_ = task_.context;
  bool is_flat_ = false;  ///< every walk lists the names of one directory
  std::vector<ResolvedWalk> walks_;
  std::vector<Match> matches_;
  std::size_t kept_ = 0;         ///< bytes
  std::set<std::string> notes_;  ///< missing mounts and directories
};

}  // namespace

Matches Glob(Task& task) {
  const nlohmann::json& arguments = task.call.arguments;
  const auto& pattern = arguments.at("pattern").get_ref<const std::string&>();
  const std::vector<find::GlobWalk> walks =
      find::PlanGlob(pattern, arguments.value("case_sensitive", true));
  task.LimitSearch();
  Matches result = GlobCall(task).Find(walks);
  if (result.paths.empty()) {
    result.notes.emplace_back(pattern.find("**") == std::string::npos
                                  ? ""
                                  : "`**` leaves out .git, linked directories and what git "
                                    "ignores, unless the path or the "
                                    "pattern names it.");
    result.notes.push_back(find::HintIfUnmatched(pattern));
  }
  return result;
}

}  // namespace tools
