#include "tools/glob.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/errors.h"
#include "support/paths.h"
#include "support/utf8.h"
#include "tools/contract.h"
#include "tools/file_call.h"
#include "tools/find_listing.h"
#include "tools/glob_plan.h"
#include "tools/search_limits.h"

namespace tools {
namespace {

/// Bytes of matches that are kept to be compared: beyond, not even their number is told.
constexpr std::size_t kMaximumKeptMatches = std::size_t{128} << 20;

struct Match {
  std::int64_t modified;
  std::uint32_t modified_nanoseconds;
  std::string path;  ///< on the host

  friend bool operator==(const Match&, const Match&) = default;
};

bool NewestFirst(const Match& a, const Match& b) {
  return std::tie(b.modified, b.modified_nanoseconds, a.path) <
         std::tie(a.modified, a.modified_nanoseconds, b.path);
}

bool IsDirectory(const ResolvedPath& path) {
  return path.attributes && path.attributes->type == guest::FileType::kDirectory;
}

/// One glob call, from its arguments to its matches.
class GlobCall {
 public:
  GlobCall(std::optional<std::string> path, const Workspace& workspace,
           const support::Context& context)
      : path_(std::move(path)), workspace_(workspace), context_(context) {}

  std::vector<Match> Find(const std::vector<GlobWalk>& walks) {
    for (const GlobWalk& walk : walks) AddRequest(walk);
    // Only the pattern's part may be missing.
    if (requests_.empty() && (path_ || base_)) ResolveBase();
    std::vector<Match> matches = List();
    std::sort(matches.begin(), matches.end(), NewestFirst);
    matches.erase(std::unique(matches.begin(), matches.end()), matches.end());
    return matches;
  }

  /// What the last Find could not look at.
  [[nodiscard]] const ListingGaps& gaps() const { return gaps_; }

  /// What to tell of mounts that are missing, and of the times that the order depends on.
  [[nodiscard]] const std::set<std::string>& notes() const { return notes_; }

 private:
  const std::string& Base() {
    if (!base_) base_ = path_ ? *path_ : workspace_.paths->DefaultDirectory();
    return *base_;
  }

  ResolvedPath Resolve(const std::string& path) {
    ResolvedPath resolved =
        workspace_.paths->Resolve(path, Access::kRead, *workspace_.guest, context_);
    Note(resolved.stale_note);
    return resolved;
  }

  void Note(const std::string& text) {
    if (!text.empty()) notes_.insert(text);
  }

  /// Throws when the path of the call is no directory.
  ResolvedPath ResolveBase() {
    ResolvedPath base = Resolve(Base());
    if (!base.attributes) throw support::CallError("There is no directory " + base.host + ".");
    if (!IsDirectory(base)) throw support::CallError(base.host + " is not a directory.");
    return base;
  }

  void AddRequest(const GlobWalk& walk) {
    // An empty path is none, whatever follows it.
    const bool is_base = !walk.absolute && (walk.directory.empty() || Base().empty());
    const ResolvedPath place = is_base ? ResolveBase() : Resolve(Place(walk));
    if (!IsDirectory(place)) return;
    if (walk.absolute && path_ && !support::PathBelow(place.guest, ResolveBase().guest)) {
      throw support::CallError("The pattern begins with " + place.host +
                               ", which is not inside the path " + ResolveBase().host +
                               ". Leave one of them out.");
    }
    Note(workspace_.paths->MissingNote(place.guest, *workspace_.guest, context_));
    ListingRequest request;
    request.directory = place.guest;
    request.maximum_depth = walk.maximum_depth;
    request.enters_git = walk.enters_git;
    request.name_filters = walk.name_filters;
    request.wants_ignored = !walk.maximum_depth;
    requests_.push_back(std::move(request));
    walks_.push_back(&walk);
  }

  std::string Place(const GlobWalk& walk) {
    return (walk.absolute ? "" : Base()) + "/" + walk.directory;
  }

  std::vector<Match> List() {
    std::vector<Match> matches;
    std::size_t kept = 0;
    if (requests_.empty()) return matches;
    const auto visit = [&](std::size_t request, const ListedName& name) {
      const GlobMatch match = walks_[request]->matcher.Match(
          support::ToUtf8(name.path), name.type == guest::FileType::kDirectory, name.ignored_names);
      const bool is_left_out = match == GlobMatch::kFound && name.ignored_names > 0;
      if (match == GlobMatch::kNone || is_left_out) return;
      const std::string guest_path = support::JoinPath(requests_[request].directory, name.path);
      matches.push_back({name.modified, name.modified_nanoseconds,
                         support::ToUtf8(workspace_.paths->ToHost(guest_path))});
      kept += sizeof(Match) + matches.back().path.size();
      if (kept > kMaximumKeptMatches) {
        throw support::CallError(
            "More names match than can be compared. Give a path or a pattern that begins deeper "
            "in the tree.");
      }
    };
    gaps_ = ListTrees(*workspace_.guest, requests_, visit, context_);
    return matches;
  }

  std::optional<std::string> path_;  ///< of the call
  std::optional<std::string> base_;  ///< that, or the one that stands for none, once it is needed
  const Workspace& workspace_;
  const support::Context& context_;
  std::vector<ListingRequest> requests_;
  std::vector<const GlobWalk*> walks_;  ///< of each request
  ListingGaps gaps_;
  std::set<std::string> notes_;
};

void RefuseTooMany(const std::vector<Match>& matches) {
  if (matches.size() <= kMaximumGlobMatches) return;
  std::string text = std::to_string(matches.size()) + " names match, more than the " +
                     std::to_string(kMaximumGlobMatches) +
                     " that can be returned. Narrow it with a path deeper in the tree or a "
                     "more specific pattern, such as \"src/**/*.cc\". The newest " +
                     std::to_string(kShownGlobMatches) + " are:";
  for (std::size_t i = 0; i < kShownGlobMatches; ++i) text += "\n" + matches[i].path;
  throw support::CallError(text);
}

}  // namespace

const mcp::ToolDefinition& GlobTool::definition() const {
  return Definition("glob");
}

mcp::ToolResult GlobTool::Call(const mcp::ToolCall& call) {
  const std::vector<GlobWalk> walks =
      PlanGlob(call.arguments.at("pattern").get_ref<const std::string&>(),
               call.arguments.value("case_sensitive", true));
  const auto find = [&](const Workspace& workspace, const support::Context& context) {
    GlobCall glob(OptionalText(call.arguments, "path"), workspace, context);
    const std::vector<Match> matches = glob.Find(walks);
    RefuseTooMany(matches);
    mcp::ToolResult result;
    result.structured = {{"matches", nlohmann::json::array()}};
    for (const Match& match : matches) result.structured["matches"].push_back(match.path);
    AddNote(result, GapsNote(glob.gaps(), *workspace.paths));
    for (const std::string& note : glob.notes()) AddNote(result, note);
    return result;
  };
  return WithTimeLimit(
      "The search for names", kGlobTimeLimit, call.context, [&](const support::Context& context) {
        return WithWorkspace(workspaces_, context, call.progress,
                             [&](const Workspace& workspace) { return find(workspace, context); });
      });
}

}  // namespace tools
