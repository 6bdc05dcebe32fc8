// SPDX-License-Identifier: Apache-2.0
#include "exposure/git_directory.h"

#include <re2/re2.h>

#include <string>

namespace exposure {
namespace {

/// Regular expressions of paths, and why they are harmless. From gitrepository-layout(5), and from
/// what git 2.30 to 2.52 and git-lfs 3 leave behind.
struct Known {
  std::string_view path;
  std::string_view reason;
};

constexpr Known kData[] = {
    {R"(index|sharedindex\.[0-9a-f]+)", "what is to be committed"},
    {R"(packed-refs|reftable/(tables\.list|[\w-]+\.ref))", "ids of commits"},
    {R"((ORIG|FETCH|MERGE|CHERRY_PICK|REVERT|REBASE|BISECT)_HEAD|AUTO_MERGE|MERGE_AUTOSTASH|shallow)",
     "ids of commits"},
    {R"(BISECT_(ANCESTORS_OK|EXPECTED_REV|FIRST_PARENT|LOG|NAMES|START|TERMS))", "ids and words"},
    {R"(MERGE_(MODE|RR)|NOTES_MERGE_(PARTIAL|REF|WORKTREE/[0-9a-f]+))", "a merge in progress"},
    {R"((COMMIT|TAG|NOTES)_EDITMSG|(MERGE|SQUASH)_MSG|EDIT_DESCRIPTION|description)", "words"},
    {R"(gc\.(pid|log))", "a number, or words that are shown"},
    {R"(objects/[0-9a-f]{2}/([0-9a-f]{38}|[0-9a-f]{62}|tmp_obj_\w+))", "objects are checked by id"},
    {R"(objects/pack/(\.?tmp-\S+|tmp_\w+|pack-[0-9a-f]+\.(pack|idx|rev|bitmap|mtimes|keep|promisor)))",
     "packs of objects"},
    {R"(objects/pack/multi-pack-index(-[0-9a-f]+\.(bitmap|rev))?)", "where objects are"},
    {R"(objects/info/(packs|commit-graph|commit-graphs/[\w.-]+)|info/refs)", "lists of these"},
    {R"(rr-cache/[0-9a-f]+/(pre|post|this)image(\.[0-9]+)?)", "earlier merges of text"},
    {R"(lfs/objects/[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{64}|lfs/(tmp|incomplete)/[^/]+)",
     "contents of files"},
    {R"(hooks/[\w-]+\.sample)", "git runs no hook of that name"},
    {R"((HEAD|ORIG_HEAD|index|config|packed-refs|shallow|refs/.+)\.lock)", "git reads none"},
};

constexpr const char* kDirectories =
    R"(objects(/[0-9a-f]{2}|/pack|/info|/info/commit-graphs)?|refs(/.+)?|logs(/.+)?)"
    R"(|info|hooks|branches|reftable|NOTES_MERGE_WORKTREE|rr-cache(/[0-9a-f]+)?)"
    R"(|lfs(/(tmp|incomplete|objects(/[0-9a-f]{2}){0,2}))?)";

}  // namespace

GitFile KindOfGitFile(std::string_view path) {
  static const re2::RE2 data = [] {
    std::string expressions;
    for (const Known& known : kData) {
      expressions += (expressions.empty() ? "" : "|") + std::string(known.path);
    }
    return re2::RE2(expressions, re2::RE2::Latin1);
  }();
  if (path == "config" || path == "config.worktree") return GitFile::kConfiguration;
  if (re2::RE2::FullMatch(path, data)) return GitFile::kData;
  if (path == "HEAD" || path.starts_with("refs/")) return GitFile::kReference;
  return path.starts_with("logs/") ? GitFile::kLog : GitFile::kUnknown;
}

bool IsGitDirectory(std::string_view path) {
  static const re2::RE2 directories(kDirectories, re2::RE2::Latin1);
  return re2::RE2::FullMatch(path, directories);
}

bool IsReference(std::string_view content) {
  static const re2::RE2 reference(R"((ref:\s+refs/\S+|[0-9a-f]{40}|[0-9a-f]{64})\s*)",
                                  re2::RE2::Latin1);
  return re2::RE2::FullMatch(content, reference);
}

bool IsLog(std::string_view beginning) {
  static const re2::RE2 line("([0-9a-f]{40} [0-9a-f]{40}|[0-9a-f]{64} [0-9a-f]{64}) ",
                             re2::RE2::Latin1);
  return beginning.empty() || re2::RE2::PartialMatch(beginning.substr(0, 130), line);
}

}  // namespace exposure
