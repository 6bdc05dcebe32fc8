// SPDX-License-Identifier: Apache-2.0
#include "exposure/mounted.h"

#include <algorithm>
#include <deque>
#include <system_error>

#include "exposure/git_settings.h"
#include "exposure/guest_reach.h"
#include "git/git.h"
#include "paths/names.h"
#include "support/errors.h"
#include "support/files.h"
#include "support/paths.h"
#include "support/regex.h"
#include "support/sha256.h"

namespace exposure {

using paths::Folded;
using paths::HostProgram;
using paths::HostPrograms;
using paths::Writing;
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEntry = 128;
/// Bytes of a configuration. Each takes a process.
constexpr std::size_t kConfiguration = std::size_t{256} << 10;
/// Bytes of a file. A larger one is known by its size.
constexpr std::size_t kMaxFile = std::size_t{16} << 20;
/// Begins the digest of a branch's upstream.
constexpr const char* kUpstream = "upstream ";

/// Of git's directory, also a submodule's and a working tree's.
bool IsObeyedByGit(const std::string& inner) {
  static const support::Regex obeyed(
      R"(((modules|worktrees)/.+/)?(hooks/[^/]+|config(\.worktree)?|commondir|rr-cache/.+))",
      support::Regex::kLatin1);
  return obeyed.FullMatch(inner) && !inner.ends_with(".sample");
}

/// Of the directories of hg and others like it, which mostly have data.
bool IsTheirData(const std::string& folded) {
  static const support::Regex directory(R"((.*/)?\.(hg|jj|sl|pijul)/.*)", support::Regex::kLatin1);
  static const support::Regex obeyed(
      R"(.*/(hgrc[^/]*|[^/]*config|requires|sharedpath|[^/]*\.toml|git_target|repo))",
      support::Regex::kLatin1);
  return directory.FullMatch(folded) && !obeyed.FullMatch(folded);
}

class Reader {
 public:
  Reader(const fs::path& top, const HostPrograms& programs, std::size_t max_read)
      : top_(ResolvedOnHost(top)), programs_(programs), left_(max_read) {}

  State Read() {
    const auto look = [&](const std::string& path, bool is_link) { Look(path, is_link); };
    ForEachFile(top_ / ".git", look);  // first, whatever else there is
    ForEachFile(top_, [&](const std::string& path, bool is_link) {
      if (!path.starts_with(".git/")) look(path, is_link);
    });
    return std::move(state_);
  }

 private:
  bool Spend(std::size_t bytes) {
    left_ = bytes < left_ ? left_ - bytes : 0;
    state_.is_cut = state_.is_cut || left_ == 0;
    return left_ > 0;
  }

  /// Calls `look` with the path, from the top, of each file and link in a directory and below.
  template <typename Look>
  void ForEachFile(const fs::path& directory, const Look& look) {
    std::error_code gone;
    if (fs::symlink_status(directory, gone).type() != fs::file_type::directory) return;
    for (std::deque<fs::path> waiting = {directory}; !waiting.empty(); waiting.pop_front()) {
      std::error_code error;
      for (fs::directory_iterator each(waiting.front(), error);
           !error && each != fs::directory_iterator() && Spend(kEntry); each.increment(error)) {
        // Mostly, the directory has the type, and no call is made.
        const bool is_link = each->is_symlink(gone);
        if (!is_link && each->is_directory(gone)) {
          waiting.push_back(each->path());
        } else {
          look(each->path().string().substr(top_.string().size() + 1), is_link);
        }
      }
      state_.is_cut = state_.is_cut || (error && error != std::errc::no_such_file_or_directory &&
                                        error != std::errc::not_a_directory);
    }
  }

  void Look(const std::string& path, bool is_link) {
    constexpr std::string_view kGit = "/.git/";
    const std::string folded = "/" + Folded(path);
    const std::size_t git = folded.find(kGit);
    bool counts = is_link;
    if (git != folded.npos) {
      const std::string inner = folded.substr(git + kGit.size());
      counts = counts || (IsObeyedByGit(inner) && !IsUnderstood(path, inner));
    } else {
      const auto rows = programs_.Match(path);
      const bool is_refused = std::any_of(rows.begin(), rows.end(), [](const HostProgram* row) {
        return row->writing == Writing::kRefused;
      });
      // A hidden link may stand for a directory with such files.
      counts = is_link ? is_refused || fs::path(path).filename().string().starts_with('.')
                       : is_refused && !IsTheirData(folded);
    }
    std::error_code none;
    if (counts) Put(path, "", fs::read_symlink(top_ / path, none).string() + Digest(top_ / path));
  }

  /// Not if a part is missing, which would look like a change.
  void Put(const std::string& path, const std::string& key, const std::string& text,
           const char* kind = "") {
    if (Spend(kEntry)) state_.items[{path, key}] = kind + support::Sha256(text);
  }

  /// Of what a path leads to, if that is in the project: the guest cannot change the rest.
  std::string Digest(const fs::path& path) try {
    const fs::path file = ResolvedOnHost(path);
    std::error_code gone;
    const fs::file_status status = fs::status(file, gone);
    if (support::PathBelow(file.string(), top_.string()).value_or("").empty()) return "";
    const bool is_program = (status.permissions() & fs::perms::owner_exec) != fs::perms::none;
    std::string text = is_program ? "x" : "-";
    if (status.type() == fs::file_type::directory) {
      std::map<std::string, std::string> digests;
      ForEachFile(file, [&](const std::string& inner, bool is_link) {
        digests[inner] = is_link ? "" : Digest(top_ / inner);
      });
      for (const auto& [inner, digest] : digests) text += inner + '\0' + digest;
    } else if (status.type() == fs::file_type::regular) {
      const std::uintmax_t size = fs::file_size(file, gone);
      const bool is_read = size <= kMaxFile && Spend(size);
      text += is_read ? support::ReadFile(file, kMaxFile).value_or("") : std::to_string(size);
    }
    return support::Sha256(text);
  } catch (const support::Error& problem) {
    return problem.what();
  }

  /// Whether a file of git's is not to count as a whole: its settings do, or it is as git makes it.
  bool IsUnderstood(const std::string& path, const std::string& inner) try {
    const fs::path file = top_ / path;
    const std::string name = fs::path(inner).filename().string();
    if (name == "commondir" && inner.starts_with("worktrees/"))
      return support::ReadFile(file, kConfiguration) == "../..\n";
    if (!name.starts_with("config") || fs::path(inner).parent_path().filename() == "hooks")
      return false;
    if (!Spend(kConfiguration)) return false;
    // Only the text: git is not in the project, and follows no include.
    const git::GitOutput list =
        git_.Run({"-C", "/", "config", "--no-includes", "--file", "-", "--list", "-z"},
                 support::ReadFile(file, kConfiguration).value_or(""));
    if (!list.ok() || list.is_cut) return false;
    for (const auto& [key, setting] : NotHarmless(git::Split(list.output, '\0'))) {
      const fs::path base = key.starts_with("include") ? file.parent_path() : top_;
      std::string values;
      for (const std::string& value : setting.values) {
        values += value + '\0';
        for (const std::string& named : NamedPaths(key, value, base)) values += Digest(named);
      }
      Put(path, key, values, setting.is_upstream ? kUpstream : "");
    }
    return true;
  } catch (const support::Error&) {
    return false;
  }

  const fs::path top_;
  const HostPrograms& programs_;
  const git::Git git_ = git::Git::Neutral("/nonexistent", -1);
  State state_;
  std::size_t left_;
};

/// Beside the side repositories of copies.
fs::path FileOf(const fs::path& instance_directory, const fs::path& top) {
  constexpr std::size_t kIdLength = 16;
  const std::string id = support::Sha256(top.string()).substr(0, kIdLength);
  return instance_directory / "mcp-copy" / (id + ".baseline");
}

constexpr const char* kFormat = "baseline 4";

}  // namespace

State ReadState(const fs::path& top, const HostPrograms& programs, std::size_t max_read) {
  return Reader(top, programs, max_read).Read();
}

std::vector<Change> Compare(const State& before, const State& after) {
  std::vector<Change> changes;
  State all = before;
  all.items.insert(after.items.begin(), after.items.end());
  for (const auto& [place, digest] : all.items) {
    const auto& [path, key] = place;
    const auto was = before.items.find(place);
    const auto is = after.items.find(place);
    const bool is_new = was == before.items.end();
    const bool is_gone = is == after.items.end();
    if (is_gone ? after.is_cut : !is_new && was->second == is->second) continue;
    // An upstream is news only of a branch that had something else, and is not deleted.
    const std::string branch = key.substr(0, key.rfind('.') + 1);
    const auto known = before.items.lower_bound({path, branch});
    const bool is_known = known != before.items.end() && known->first.first == path &&
                          known->first.second.starts_with(branch);
    const std::string& value = is_gone ? digest : is->second;
    if (value.starts_with(kUpstream) && (is_gone || !is_known)) continue;
    changes.push_back(
        {{path, is_new ? git::kNoEntry : kFileMode, is_gone ? git::kNoEntry : kFileMode, "", ""},
         {},
         "",
         key,
         key});
  }
  return changes;
}

std::optional<Baseline> FindBaseline(const fs::path& instance_directory,
                                     const fs::path& directory) {
  for (fs::path above = directory;; above = above.parent_path()) {
    // The format, the top, then path, key and digest of each item.
    const auto fields = git::Split(support::ReadText(FileOf(instance_directory, above)), '\0');
    if (fields.size() % 3 == 2 && fields[0] == kFormat) {
      Baseline baseline{fields[1], {}};
      for (std::size_t i = 2; i < fields.size(); i += 3) {
        baseline.state.items[{fields[i], fields[i + 1]}] = fields[i + 2];
      }
      return baseline;
    }
    if (above == above.parent_path()) return std::nullopt;
  }
}

void Save(const fs::path& instance_directory, const Baseline& baseline) {
  std::string text = git::EachWithNul({kFormat, baseline.top});
  for (const auto& [place, digest] : baseline.state.items) {
    text += git::EachWithNul({place.first, place.second, digest});
  }
  const fs::path file = FileOf(instance_directory, baseline.top);
  fs::create_directories(file.parent_path());
  support::WriteText(file, text);
}

}  // namespace exposure
