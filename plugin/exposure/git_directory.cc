// SPDX-License-Identifier: Apache-2.0
#include "exposure/git_directory.h"

#include "support/regex.h"

#include "exposure/state.h"

namespace exposure {

std::string FirstLine(const std::filesystem::path& file) {
  constexpr std::size_t kMaxFirstLine = 8192;
  const std::string text = ReadRegularFile(file, kMaxFirstLine).value_or("");
  return text.substr(0, text.find('\n'));
}

std::pair<std::filesystem::path, std::filesystem::path> GitDirectory(
    const std::filesystem::path& top) {
  constexpr std::string_view kLink = "gitdir: ";
  std::filesystem::path own = top / ".git";
  const std::string link = FirstLine(own);
  if (link.starts_with(kLink)) own = top / link.substr(kLink.size());
  return {own, own / FirstLine(own / "commondir")};
}

bool IsData(std::string_view path) {
  // Names of data. From gitrepository-layout(5), and from what git 2.30 to 2.52, git-lfs 3, hg 6
  // and jj 0.30 leave behind.
  static const support::Regex data(
      // ids of commits, and what is to be committed
      R"(index|sharedindex\.[0-9a-f]+|index\.stash\.[0-9]+|next-index-[0-9]+(\.lock)?)"
      R"(|packed-refs\.new|reftable/(tables\.list|[\w-]+\.ref)|shallow)"
      R"(|(ORIG|FETCH|MERGE|CHERRY_PICK|REVERT|REBASE|BISECT)_HEAD|AUTO_MERGE|MERGE_AUTOSTASH)"
      // words, numbers and ids of what is in progress
      R"(|BISECT_(ANCESTORS_OK|EXPECTED_REV|FIRST_PARENT|LOG|NAMES|START|TERMS))"
      R"(|MERGE_(MODE|RR)|NOTES_MERGE_(PARTIAL|REF|WORKTREE/[0-9a-f]+)|gc\.(pid|log))"
      R"(|(COMMIT|TAG|NOTES)_EDITMSG|(MERGE|SQUASH)_MSG|EDIT_DESCRIPTION|description)"
      R"(|\.(COMMIT_EDIT|MERGE_|TAG_EDIT)MSG\.sw[op]|GITGUI_(MSG|BCK)|gitk\.cache)"
      // objects, which are checked by id, and lists of these
      R"(|objects/[0-9a-f]{2}/([0-9a-f]{38}|[0-9a-f]{62}|tmp_obj_\w+))"
      R"(|objects/pack/(\.?tmp-\S+|tmp_\w+|(pack|loose)-[0-9a-f]+\.(pack|idx|rev|bitmap|mtimes|keep|promisor)))"
      R"(|objects/pack/multi-pack-index(-[0-9a-f]+\.(bitmap|rev)|\.d/[\w.-]+)?|lost-found/(commit|other)/[0-9a-f]+)"
      R"(|objects/info/(packs|commit-graph|commit-graphs/[\w.-]+)|info/refs)"
      R"(|rr-cache/[0-9a-f]+/(pre|post|this)image(\.[0-9]+)?|fsmonitor--daemon/cookies/[0-9-]+)"
      R"(|lfs/objects/[0-9a-f]{2}/[0-9a-f]{2}/[0-9a-f]{64}|lfs/(tmp|incomplete)/[0-9a-f][0-9a-f.-]*(part|tmp)?)"
      R"(|lfs/(lockcache\.db|logs/[0-9T.]+\.log|cache/locks/.+/verifiable))"
      // what git neither runs nor reads
      R"(|hooks/[\w-]+\.sample|(HEAD|index|config|packed-refs|shallow|refs/.+|logs/.+|AUTO_MERGE|gc\.pid|\w+_(HEAD|EDITMSG|MSG))\.lock)"
      R"(|objects/(maintenance|pack/multi-pack-index|info/commit-graph(s/commit-graph-chain)?)\.lock)"
      // The names are narrow, so that none of git's own is among them.
      R"(|\.hg/(store/((data|meta|dh)/.+\.(i|d|n|nd)|(00|undo|phaseroots|obsstore|fncache)[\w.-]*))"
      R"(|w?cache/(branch|tags|hgtags|rbc-|manifestfulltext|check)[\w.-]*|strip-backup/[\w-]+\.hg)"
      R"(|(dirstate|undo\.|bookmarks)[\w.-]*|last-message\.txt|branch|00changelog\.i))"
      R"(|\.jj/(repo/(\w+_store|op_heads|index|store/extra)|working_copy)/(\w+/)?([0-9a-f]+|type|checkout|tree_state|\w+\.lock))",
      support::Regex::kLatin1);
  return data.FullMatch(path);
}

bool HasKnownForm(std::string_view path, std::string_view text) {
  constexpr std::size_t kMaxReference = 1000;
  static const support::Regex id(R"(([0-9a-f]{40}|[0-9a-f]{64})\s*)", support::Regex::kLatin1);
  static const support::Regex reference(R"((ref:\s+refs/\S+|[0-9a-f]{40}|[0-9a-f]{64})\s*)",
                                        support::Regex::kLatin1);
  static const support::Regex log("([0-9a-f]{40} [0-9a-f]{40}|[0-9a-f]{64} [0-9a-f]{64}) ",
                                  support::Regex::kLatin1);
  if (path == "packed-refs") return text.find(" refs/replace/") == text.npos;
  if (path == "opencode") return id.FullMatch(text);  // of the first commit
  if (path.starts_with("logs/")) {
    return text.empty() || log.PartialMatch(text.substr(0, 130));
  }
  const bool is_known =
      path == "HEAD" || (path.starts_with("refs/") && !path.starts_with("refs/replace/"));
  return is_known && text.size() < kMaxReference && text.find("..") == text.npos &&
         reference.FullMatch(text);
}

bool IsDataDirectory(std::string_view path) {
  static const support::Regex directories(
      R"(objects(/[0-9a-f]{2}|/pack(/multi-pack-index\.d)?|/info(/commit-graphs)?|/tmp_objdir-[\w-]+)?)"
      R"(|refs(/.+)?|logs(/.+)?|branches|reftable|NOTES_MERGE_WORKTREE|rr-cache(/[0-9a-f]+)?)"
      R"(|lost-found(/commit|/other)?|fsmonitor--daemon(/cookies)?)"
      R"(|lfs(/(tmp|incomplete|logs|objects(/[0-9a-f]{2}){0,2}|cache(/locks(/.+)?)?))?)"
      R"(|\.hg/(store(/(data|meta|dh)(/.+)?)?|w?cache|strip-backup))"
      R"(|\.jj/(repo(/(\w+_store|op_heads|index)(/\w+)?|/store(/extra(/\w+)?)?)?|working_copy))",
      support::Regex::kLatin1);
  return directories.FullMatch(path);
}

bool IsObeyedDirectory(std::string_view path) {
  static const support::Regex directories(
      R"(hooks|info|(modules|worktrees|rebase-merge|rebase-apply|sequencer)(/.+)?|\.jj/repo/store/git)",
      support::Regex::kLatin1);
  return directories.FullMatch(path);
}

}  // namespace exposure
