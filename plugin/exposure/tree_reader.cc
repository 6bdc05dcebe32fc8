// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <system_error>

#include "exposure/git_directory.h"
#include "exposure/git_settings.h"
#include "exposure/guest_reach.h"
#include "exposure/links.h"
#include "exposure/names.h"
#include "exposure/state.h"
#include "git/git.h"
#include "support/environment.h"
#include "support/format.h"
#include "support/paths.h"
#include "support/sha256.h"

namespace exposure {
namespace {

namespace fs = std::filesystem;
using fs::file_type;

constexpr std::size_t kItem = 300;
/// Bytes of a configuration. Each takes a process.
constexpr std::size_t kConfiguration = std::size_t{256} << 10;
/// Bytes of a file. A larger one is known by its size and time.
constexpr std::size_t kMaxFile = std::size_t{16} << 20;

constexpr const char* kFileMode = "100644";
constexpr const char* kSpecialMode = "010000";

/// Directories of which the number of entries counts, repositories, and programs in bin and .bin.
constexpr std::array<std::string_view, 5> kHeavy = {"node_modules", ".venv", "venv", "vendor",
                                                    "target"};

class Reader {
 public:
  Reader(const fs::path& top, const fs::path& mount, const HostPrograms& programs,
         const Bounds& bounds)
      : top_(top), mount_(mount), bounds_(bounds), finder_(programs) {}

  /// The bounds cut off whatever is read last, and the guest decides how much there is. So the
  /// order is by how soon something runs: git's settings and the top level at the next prompt, PATH
  /// with the next command, the directories above with any tool. The rest of the tree goes level by
  /// level, because one deep or wide directory must not hide its neighbours. What normally has
  /// nothing that counts is last: heavy directories and git's own data.
  State Read(const std::string& search_path) {
    ReadGit("", ".git");
    ReadDirectory({});
    for (const auto& [path, key] : WaysOfHost(search_path)) {
      if (key == kHomeKey && Below(path)) continue;  // the guest can write the home directory
      const auto end = Add("", path, key);
      if (end) AddFiles(*end, key, key == kPathKey);
    }
    std::string up;
    for (fs::path above = top_; above != mount_ && above.has_relative_path();
         above = above.parent_path()) {
      up = In("..", up);
      ReadGit(up, ".git");
      ReadDirectory({up});
    }
    for (; !waiting_.empty(); waiting_.pop_front()) ReadDirectory(waiting_.front());
    for (; !heavy_.empty(); heavy_.pop_front()) ReadDirectory(heavy_.front());
    for (const auto& [place, count] : counts_) {
      // The number of a part would look like a change.
      const std::string text = count == 1 ? "1 entry" : support::Format("{} entries", count);
      if (!state_.is_cut) state_.items[place] = {kTreeMode, text};
    }
    for (; !data_.empty(); data_.pop_front()) {
      const auto [repository, inner] = data_.front();
      ReadGitDirectory(repository, inner);
    }
    return std::move(state_);
  }

 private:
  using Entry = std::pair<std::string, file_type>;

  struct Directory {
    std::string path;
    std::string seen_as = {};      ///< the path at which programs see it, if that is another one
    std::string link = {};         ///< through which they do
    std::size_t* count = nullptr;  ///< of entries, in a heavy directory

    [[nodiscard]] const std::string& Seen() const { return seen_as.empty() ? path : seen_as; }
    [[nodiscard]] std::string Key() const { return seen_as.empty() ? "" : As(seen_as); }
    [[nodiscard]] Directory Child(const std::string& name) const {
      return {In(path, name), seen_as.empty() ? "" : In(seen_as, name), link, count};
    }
  };

  /// What a path leads to: a path without links on its way, and the key of its item.
  struct End {
    std::string path;
    std::string key;
    struct stat status;
  };

  // Bounds.

  bool Spend(std::size_t bytes) {
    const bool is_enough = bytes <= bounds_.bytes - spent_;
    state_.is_cut = state_.is_cut || !is_enough;
    spent_ += is_enough ? bytes : 0;
    return is_enough;
  }

  static std::string In(const std::string& directory, const std::string& name) {
    return directory + (directory.empty() || name.empty() ? "" : "/") + name;
  }

  static std::string As(const std::string& path) { return std::string(kSeenAs) + path; }

  /// The path from the top of the project, if the guest can write there.
  [[nodiscard]] std::optional<std::string> Below(const std::string& path) const {
    auto below = support::PathBelow(path, top_.string());
    if (!below && support::PathBelow(path, mount_.string())) {
      below = fs::path(path).lexically_relative(top_).string();
    }
    return below;
  }

  std::optional<struct stat> Status(const fs::path& file) {
    struct stat status {};
    if (::lstat(file.c_str(), &status) == 0) return status;
    state_.is_cut = state_.is_cut || (errno != ENOENT && errno != ENOTDIR);
    return std::nullopt;
  }

  bool Exists(const std::string& directory, const char* name) {
    return Status(top_ / directory / name).has_value();
  }

  /// The entries of a directory.
  std::vector<Entry> List(const std::string& directory) {
    std::vector<Entry> entries;
    std::error_code error;
    for (fs::directory_iterator each(top_ / directory, error);
         !error && each != fs::directory_iterator(); each.increment(error)) {
      std::string name = each->path().filename().string();
      const bool is_enough = ++entries_ <= bounds_.entries && Spend(name.size());
      state_.is_cut = state_.is_cut || !is_enough;
      if (!is_enough) break;
      std::error_code unknown;  // mostly, the directory has the type, and no call is made
      const file_type type = each->is_symlink(unknown)        ? file_type::symlink
                             : each->is_directory(unknown)    ? file_type::directory
                             : each->is_regular_file(unknown) ? file_type::regular
                             : each->is_socket(unknown)       ? file_type::socket
                                                              : file_type::unknown;
      entries.emplace_back(std::move(name), type);
    }
    state_.is_cut = state_.is_cut || error;
    std::sort(entries.begin(), entries.end());
    return entries;
  }

  // Items.

  /// Follows `names` from a directory that has no links on its way, and adds each link. Returns
  /// nothing if there is no such file on the mount.
  std::optional<End> Follow(const std::string& directory, const std::string& names,
                            std::string key) {
    std::optional<End> end;
    Walk((top_ / directory).string(), names, [&](const Step& step) {
      if (!Spend(step.path.size())) return false;
      const bool is_known = step.error == 0 || step.error == ENOENT || step.error == ENOTDIR;
      state_.is_cut = state_.is_cut || !is_known;
      const auto below = Below(step.path);
      if (below && step.IsLink()) {
        Put({*below, key, step.status});
        if (key.empty()) key = As(*below);
      }
      if (below && step.is_end && step.error == 0) end = {*below, key, step.status};
      return step.error == 0;
    });
    return end;
  }

  /// Adds what the names lead to, and each link on the way. A directory counts only by itself.
  std::optional<End> Add(const std::string& directory, const std::string& names,
                         const std::string& key = "") {
    auto end = Follow(directory, names, key);
    if (end && (end->key.empty() || !S_ISDIR(end->status.st_mode))) Put(*end);
    return end;
  }

  void Put(const End& end) {
    const mode_t mode = end.status.st_mode;
    const fs::path file = top_ / end.path;
    Item item{S_ISDIR(mode) ? kTreeMode : kSpecialMode, ""};
    std::error_code error;
    if (S_ISLNK(mode)) item = {kLinkMode, fs::read_symlink(file, error).string()};
    if (S_ISREG(mode)) {
      const auto size = static_cast<std::size_t>(end.status.st_size);
      const bool is_small = size <= kMaxFile;
      if (is_small && !Spend(size)) return;
      const auto text = is_small ? ReadRegularFile(file, kMaxFile) : std::nullopt;
      item = {(mode & 0111U) != 0 ? kExecutableMode : kFileMode,
              text ? support::Sha256(*text)
                   : std::to_string(size) + " " + std::to_string(end.status.st_ctime)};
    }
    if (Spend(kItem + end.path.size() + end.key.size() + item.value.size())) {
      state_.items[{end.path, end.key}] = std::move(item);
    }
  }

  /// The files in a directory that may be run, or all below it. The project itself has too many.
  void AddFiles(const End& directory, const std::string& key, bool only_programs) {
    if (!S_ISDIR(directory.status.st_mode)) return;
    const bool is_all =
        !only_programs && !directory.path.empty() && !directory.path.ends_with("..");
    for (const auto& [name, type] : List(directory.path)) {
      const bool is_plain = only_programs && type == file_type::regular;
      const auto status = is_plain ? Status(top_ / directory.path / name) : std::nullopt;
      const bool counts = !is_plain || (status && (status->st_mode & 0111U) != 0);
      if (type != file_type::directory) {
        if (counts) Add(directory.path, name, key);
      } else if (is_all && Folded(name) != ".git") {
        const auto inner = Follow(directory.path, name, key);
        if (inner) AddFiles(*inner, key, false);
      }
    }
  }

  // The tree.

  /// A directory that is read later.
  void Wait(Directory directory) {
    if (!Spend(directory.path.size() + directory.seen_as.size() + directory.link.size())) return;
    const std::string name = Folded(directory.Seen().substr(directory.Seen().rfind('/') + 1));
    if (std::find(kHeavy.begin(), kHeavy.end(), name) != kHeavy.end() && !directory.count) {
      directory.count = &counts_[{directory.path, directory.Key()}];
    }
    (directory.count ? heavy_ : waiting_).push_back(std::move(directory));
  }

  /// A link's target, once for each link, as links may lead in a circle.
  void WaitFor(const End& target, const std::string& seen_as, const std::string& link) {
    if (S_ISDIR(target.status.st_mode) && followed_.insert({target.path, link}).second) {
      Wait({target.path, seen_as, link});
    }
  }

  void ReadDirectory(const Directory& directory) {
    const bool is_seen_there = directory.seen_as.empty();
    if (directory.count && *directory.count == 0) AddPrograms(directory);
    const std::vector<Entry> entries = List(directory.path);
    if (directory.count) *directory.count += entries.size();
    for (const auto& [entry, type] : entries) {
      const std::string name = Folded(entry);
      if (name == ".git" && (is_seen_there || directory.count)) {
        ReadGit(directory.path, entry);
      } else if (type != file_type::directory) {
        if (name == "head" && is_seen_there) ReadBareRepository(directory.path);
        if (!directory.count) AddIfObeyed(directory, entry, type == file_type::symlink);
      } else if (!IsRead(directory.path, entry)) {
        continue;
      } else if (is_seen_there && (name == ".hg" || name == ".jj")) {
        ReadGitDirectory(directory.path, entry);
      } else if (name != ".git") {
        if (HasHidden(entry) && !directory.count) Add(directory.path, entry);
        Wait(directory.Child(entry));
      }
    }
  }

  /// Whether a directory in `parent` is read: above the project, only if programs look for it in
  /// all directories above. Those of the home directory are the user's own settings, which change
  /// by themselves.
  bool IsRead(const std::string& parent, const std::string& name) {
    if (parent != ".." && !parent.ends_with("/..")) return true;
    return (name.starts_with('.') || name == "node_modules") &&
           !finder_.Rows(In(parent, name)).empty() &&
           support::CleanPath((top_ / parent).string()) !=
               ResolvedOnHost(support::EnvironmentVariable("HOME"));
  }

  void AddIfObeyed(const Directory& directory, const std::string& name, bool is_link) {
    const Directory file = directory.Child(name);
    bool counts =
        !finder_.Rows(file.Seen(), is_link).empty() || (file.seen_as.empty() && HasHidden(name));
    bool leads_out = false;
    if (is_link) {
      std::error_code error;
      leads_out = LeadsOut(file.path, fs::read_symlink(top_ / file.path, error).string());
    }
    if (!counts && !leads_out) return;
    const auto end = Add(directory.path, name, file.Key());
    if (!end || !counts || !IsRead(directory.path, name)) return;
    WaitFor(*end, file.Seen(), file.link.empty() ? file.path : file.link);
  }

  /// Adds the programs of a heavy directory that PATH may name.
  void AddPrograms(const Directory& heavy) {
    for (const char* programs : {".bin", "bin"}) {
      const auto end = Follow(heavy.path, programs, heavy.Key());
      if (end) AddFiles(*end, heavy.Key(), true);
    }
  }

  // The directories of git, hg and jj.

  /// A repository, or a file that names one after `prefix`.
  void ReadGit(const std::string& directory, const std::string& name,
               std::string_view prefix = "gitdir: ") {
    const auto end = Add(directory, name);
    if (!end) return;
    if (S_ISDIR(end->status.st_mode)) return ReadRepository(end->path);
    const std::string text = Beginning(end->path).value_or("");
    if (!text.starts_with(prefix)) return;
    const std::size_t size = text.find_last_not_of("\r\n") + 1;
    const auto named = Follow(directory, text.substr(0, size).substr(prefix.size()), As(".git"));
    if (named) ReadBareRepository(named->path);
  }

  /// git takes any directory with a file HEAD for a repository if the rest is there.
  void ReadBareRepository(const std::string& directory) {
    const bool has_rest = Exists(directory, "commondir") ||
                          (Exists(directory, "objects") && Exists(directory, "refs"));
    if (has_rest) ReadRepository(directory);
  }

  void ReadRepository(const std::string& repository) {
    if (!repositories_.insert(repository).second) return;
    ReadConfiguration(repository, "config", KeyInGit(repository, "config"));
    ReadGitDirectory(repository, "");
    ReadGit(repository, "commondir", "");
  }

  /// Everything that is not known to be data. First what git runs soonest.
  void ReadGitDirectory(const std::string& repository, const std::string& inner) {
    const std::vector<Entry> entries = List(In(repository, inner));
    std::vector<std::string> unknown;
    for (const auto& [name, type] : entries) {
      if (type != file_type::directory) AddGitFile(repository, In(inner, name), type);
      // Among logs and references may be a repository, too.
      if (name == "HEAD" && !inner.empty()) ReadBareRepository(In(repository, inner));
    }
    for (const auto& [name, type] : entries) {
      if (type != file_type::directory) continue;
      const std::string path = In(inner, name);
      if (IsDataDirectory(path)) {
        if (Spend(repository.size() + path.size())) data_.push_back({repository, path});
      } else if (!IsObeyedDirectory(path)) {
        // In a bare repository it may as well be a part of the tree, such as a worktree.
        if (KeyInGit(repository, path).empty()) unknown.push_back(name);
      } else if (Exists(In(repository, path), "HEAD")) {
        ReadRepository(In(repository, path));  // a submodule, or a worktree
      } else {
        ReadGitDirectory(repository, path);
      }
    }
    for (const std::string& name : unknown) {
      Add(In(repository, inner), name);
      ReadGitDirectory(repository, In(inner, name));
    }
  }

  /// Empty if the path says by itself that it is git's, hg's or jj's, else what it is to git.
  static std::string KeyInGit(const std::string& repository, const std::string& path) {
    const std::string folded = "/" + Folded(In(repository, path)) + "/";
    const auto has = [&](const char* name) { return folded.find(name) != folded.npos; };
    return has("/.git/") || has("/.hg/") || has("/.jj/") ? "" : As(".git/" + path);
  }

  void AddGitFile(const std::string& repository, const std::string& path, file_type type) {
    const std::string file = In(repository, path);
    if (type == file_type::regular) {
      if (IsData(path)) return;
      const auto whole = path == "packed-refs" ? Status(top_ / file) : std::nullopt;
      const bool is_whole = whole && Spend(static_cast<std::size_t>(whole->st_size));
      const auto text = is_whole ? ReadRegularFile(top_ / file, kMaxFile) : Beginning(file);
      if (text && HasKnownForm(path, *text)) return;
    }
    if (type == file_type::socket && path == "fsmonitor--daemon.ipc") return;
    const std::string key = KeyInGit(repository, path);
    if (path == "config" || path == "config.worktree") {
      return ReadConfiguration(repository, path, key);
    }
    const auto end = Add(repository, path, key);
    if (end && !IsDataDirectory(path)) WaitFor(*end, key.empty() ? file : ".git/" + path, file);
  }

  std::optional<std::string> Beginning(const std::string& path) {
    std::array<char, 4096> bytes{};
    const support::FileDescriptor file(
        ::open((top_ / path).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    const ssize_t count = file.valid() ? ::read(file.get(), bytes.data(), bytes.size()) : -1;
    if (count < 0) return std::nullopt;
    return std::string(bytes.data(), static_cast<std::size_t>(count));
  }

  /// `key` is the setting that makes git read the file.
  void ReadConfiguration(const std::string& directory, const std::string& names,
                         const std::string& key) {
    const auto end = Follow(directory, names, key);
    const fs::path written = (top_ / directory / names).parent_path();
    const bool is_new = end && configurations_.insert({end->path, written}).second;
    if (!is_new || !Spend(kConfiguration)) return;
    const auto text = ReadRegularFile(top_ / end->path, kConfiguration);
    // Only the text: git is not in the project, and follows no include.
    const git::GitOutput settings = git_.Run(
        {"-C", "/", "config", "--no-includes", "--file", "-", "--list", "-z"}, text.value_or(""));
    if (!text || !settings.ok() || settings.is_cut || !Spend(settings.output.size())) {
      return Put(*end);
    }
    std::map<std::string, std::string> digests;
    const std::vector<std::string> all = git::Split(settings.output, '\0');
    const std::set<std::string> counted = NotHarmless(all);
    for (const std::string& setting : all) {
      const auto [name, value] = git::KeyAndValue(setting);
      if (!counted.contains(name)) continue;
      const bool is_include = name.starts_with("include");
      std::string& digest = digests[name];
      digest = support::Sha256(digest + value);
      for (const std::string& path : NamedPaths(name, value, is_include ? written : top_)) {
        if (is_include) {
          ReadConfiguration("", path, name);
          continue;
        }
        const auto file = Add("", path, name);
        if (name != "core.hookspath") continue;
        if (file) AddFiles(*file, name, false);
        for (const std::string& link : LinksIn(path)) Add("", link, name);
      }
    }
    for (const auto& [name, digest] : digests) {
      if (!Spend(kItem + end->path.size() + name.size())) continue;
      state_.items[{end->path, name}] = {kFileMode, digest};
    }
  }

  const fs::path top_;
  const fs::path mount_;
  const Bounds bounds_;
  RowFinder finder_;
  const git::Git git_ = git::Git::Neutral("/nonexistent", -1);
  State state_;
  std::deque<Directory> waiting_;  ///< level by level
  std::deque<Directory> heavy_;
  std::deque<std::pair<std::string, std::string>> data_;               ///< in repositories
  std::map<std::pair<std::string, std::string>, std::size_t> counts_;  ///< by the keys of items
  std::set<std::pair<std::string, std::string>> followed_;     ///< targets, and the links to them
  std::set<std::string> repositories_;                         ///< that were read
  std::set<std::pair<std::string, fs::path>> configurations_;  ///< that were read, as written
  std::size_t entries_ = 0;
  std::size_t spent_ = 0;
};

}  // namespace

State ReadState(const fs::path& top, const fs::path& mount, const HostPrograms& programs,
                const std::string& search_path, const Bounds& bounds) {
  return Reader(top, mount, programs, bounds).Read(search_path);
}

}  // namespace exposure
