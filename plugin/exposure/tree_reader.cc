// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <set>
#include <system_error>

#include "exposure/git_directory.h"
#include "exposure/git_settings.h"
#include "exposure/guest_reach.h"
#include "exposure/names.h"
#include "exposure/state.h"
#include "git/git.h"
#include "support/environment.h"
#include "support/paths.h"
#include "support/sha256.h"

namespace exposure {
namespace {

namespace fs = std::filesystem;
using fs::file_type;

constexpr std::size_t kItem = 300;
/// Each takes a process.
constexpr std::size_t kConfiguration = std::size_t{256} << 10;
/// Bytes of a file. A larger one is known by its size and time.
constexpr std::size_t kMaxFile = std::size_t{1} << 20;

constexpr const char* kFileMode = "100644";
constexpr const char* kSpecialMode = "010000";

/// Directories of which only the number of entries counts.
constexpr std::array<std::string_view, 5> kHeavy = {"node_modules", ".venv", "venv", "vendor",
                                                    "target"};
/// Where these have programs that PATH may name.
constexpr std::array<const char*, 2> kProgramDirectories = {"/.bin", "/bin"};
constexpr std::array<const char*, 3> kObeyedByOthers = {"hgrc", "requires", "repo/config.toml"};

class Reader {
 public:
  Reader(const fs::path& top, const HostPrograms& programs, const Bounds& bounds)
      : top_(top), bounds_(bounds), finder_(programs) {}

  /// The bounds cut off whatever is read last, and the guest decides how much there is. So the
  /// order is by how soon something runs: git's settings and the top level at the next prompt, PATH
  /// with the next command, the directories above with any tool. The rest of the tree goes level by
  /// level, because one deep or wide directory must not hide its neighbours. git's own data is
  /// last: normally, nothing there counts.
  State Read(const fs::path& mount, const std::string& search_path) {
    ReadGit(".git");
    ReadDirectory({"", ""});
    for (const std::string& directory : git::Split(search_path, ':')) {
      const fs::path named = top_ / directory;
      for (const auto& path : {support::CleanPath(named.string()), ResolvedOnHost(named)}) {
        const auto below = support::PathBelow(path, top_.string());
        if (below) AddFiles(*below, "PATH", true);
      }
    }
    ReadAbove(mount);
    for (; !waiting_.empty(); waiting_.pop_front()) ReadDirectory(waiting_.front());
    ReadData();
    return std::move(state_);
  }

 private:
  struct Entry {
    std::string path;
    std::string name;
    file_type type;
  };

  /// `seen_as`: the path at which programs see it, if that is another one, through a link.
  struct Directory {
    std::string path;
    std::string seen_as;
  };

  // Bounds.

  bool SpendEntry() {
    ++entries_;
    state_.is_cut = state_.is_cut || entries_ > bounds_.entries;
    return entries_ <= bounds_.entries;
  }

  bool Spend(std::size_t bytes) {
    const bool is_enough = bytes <= bounds_.bytes - spent_;
    state_.is_cut = state_.is_cut || !is_enough;
    spent_ += is_enough ? bytes : 0;
    return is_enough;
  }

  static std::string In(const std::string& directory, const std::string& name) {
    return directory + (directory.empty() || name.empty() ? "" : "/") + name;
  }

  file_type TypeOf(const std::string& path) {
    std::error_code error;
    const file_type type = fs::symlink_status(top_ / path, error).type();
    state_.is_cut = state_.is_cut || type == file_type::none;
    return type;
  }

  /// The entries of a directory; none if it is a link.
  std::vector<Entry> List(const std::string& directory) {
    std::vector<Entry> entries;
    if (TypeOf(directory) != file_type::directory) return entries;
    std::error_code error;
    for (fs::directory_iterator each(top_ / directory, error);
         !error && each != fs::directory_iterator(); each.increment(error)) {
      if (!SpendEntry()) break;
      std::string name = each->path().filename().string();
      std::error_code unknown;  // mostly, the directory has the type, and no call is made
      const file_type type = each->is_symlink(unknown)        ? file_type::symlink
                             : each->is_directory(unknown)    ? file_type::directory
                             : each->is_regular_file(unknown) ? file_type::regular
                                                              : file_type::unknown;
      std::string path = In(directory, name);
      entries.push_back({std::move(path), std::move(name), type});
    }
    state_.is_cut = state_.is_cut || error;
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.name < b.name; });
    return entries;
  }

  // The tree.

  void ReadDirectory(const Directory& directory) {
    for (const Entry& entry : List(directory.path)) {
      const bool is_seen_there = directory.seen_as.empty();
      const std::string seen_as = is_seen_there ? "" : In(directory.seen_as, entry.name);
      const std::string name = Folded(entry.name);
      if (entry.type != file_type::directory) {
        AddIfObeyed(entry, seen_as);
        if (name == "head" && is_seen_there) AddBareRepository(directory.path, entry.path);
      } else if (name == ".git") {
        if (is_seen_there) ReadGit(entry.path);
      } else if (name == ".hg" || name == ".jj") {
        for (const char* file : kObeyedByOthers) Add(In(entry.path, file));
      } else if (std::find(kHeavy.begin(), kHeavy.end(), name) != kHeavy.end()) {
        AddHeavy(entry.path);
      } else {
        if (HasHidden(entry.name)) Add(entry.path);
        waiting_.push_back({entry.path, seen_as});
      }
    }
  }

  /// Adds the files that programs find which look in all directories above.
  void ReadAbove(const fs::path& mount) {
    const fs::path home = ResolvedOnHost(support::EnvironmentVariable("HOME"));
    std::string up;
    for (fs::path above = top_; above != mount && above.has_relative_path();) {
      above = above.parent_path();
      up = In("..", up);
      ReadGit(In(up, ".git"));
      for (const Entry& entry : List(up)) {
        const bool is_directory = entry.type == file_type::directory;
        if (!is_directory) AddIfObeyed(entry, "");
        // Those of the home directory are the user's own settings, which change by themselves.
        const bool is_obeyed = is_directory && above != home && entry.name.starts_with('.') &&
                               Folded(entry.name) != ".git" && !finder_.Rows(entry.path).empty();
        if (is_obeyed) waiting_.push_back({entry.path, ""});
      }
    }
  }

  void Add(const std::string& path, const std::string& key = "") {
    struct stat status {};
    const fs::path file = top_ / path;
    if (::lstat(file.c_str(), &status) != 0) return;
    Item item{kSpecialMode, ""};
    std::error_code error;
    if (S_ISLNK(status.st_mode)) item = {kLinkMode, fs::read_symlink(file, error).string()};
    if (S_ISDIR(status.st_mode)) item.mode = kTreeMode;
    if (S_ISREG(status.st_mode)) {
      const auto digest = Digest(file, status);
      if (!digest) return;
      item = {(status.st_mode & 0111U) != 0 ? kExecutableMode : kFileMode, *digest};
    }
    if (Spend(kItem + path.size() + key.size() + item.value.size())) {
      state_.items[{path, key}] = std::move(item);
    }
  }

  /// Returns nothing beyond the bounds.
  std::optional<std::string> Digest(const fs::path& file, const struct stat& status) {
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size <= kMaxFile) {
      if (!Spend(size)) return std::nullopt;
      if (const auto text = ReadRegularFile(file, kMaxFile)) return support::Sha256(*text);
    }
    return std::to_string(size) + " " + std::to_string(status.st_ctime);
  }

  void AddIfObeyed(const Entry& entry, const std::string& seen_as) {
    const std::string& seen = seen_as.empty() ? entry.path : seen_as;
    const bool is_link = entry.type == file_type::symlink;
    bool counts =
        !finder_.Rows(seen, is_link).empty() || (seen_as.empty() && HasHidden(entry.name));
    bool leads_out = false;
    if (is_link) {
      std::error_code error;
      leads_out = LeadsOut(entry.path, fs::read_symlink(top_ / entry.path, error).string());
      counts = counts || leads_out;
    }
    if (!counts) return;
    Add(entry.path, seen_as.empty() ? "" : std::string(kSeenAs) + seen_as);
    if (is_link && seen_as.empty() && !leads_out) AddTarget(entry.path);
  }

  /// Adds the target of a link, if it is in the project.
  void AddTarget(const std::string& link) {
    const auto below = support::PathBelow(ResolvedOnHost(top_ / link), top_.string());
    if (!below || below->empty()) return;
    const std::string& target = *below;
    const file_type type = TypeOf(target);
    if (type == file_type::regular) Add(target, std::string(kSeenAs) + link);
    if (type == file_type::directory) waiting_.push_back({target, link});
  }

  void AddHeavy(const std::string& directory) {
    for (const char* programs : kProgramDirectories) AddFiles(directory + programs, "", true);
    std::size_t count = 0;
    std::error_code error;
    fs::recursive_directory_iterator entry(top_ / directory, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      if (!SpendEntry()) return;
      ++count;
    }
    state_.is_cut = state_.is_cut || error;
    state_.items[{directory, ""}] = {kTreeMode, std::to_string(count) + " entries"};
  }

  /// The files in a directory, or only those that may be run.
  void AddFiles(const std::string& directory, const std::string& key, bool only_programs) {
    constexpr fs::perms kExecutable =
        fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
    if (TypeOf(directory) == file_type::symlink) Add(directory, key);
    for (const Entry& entry : List(directory)) {
      std::error_code error;
      const bool is_plain = only_programs && entry.type == file_type::regular &&
                            (fs::symlink_status(top_ / entry.path, error).permissions() &
                             kExecutable) == fs::perms::none;
      if (!is_plain && entry.type != file_type::directory) Add(entry.path, key);
    }
  }

  // git's own directories.

  void ReadGit(const std::string& path) {
    if (!repositories_.insert(path).second) return;
    Add(path);
    if (TypeOf(path) == file_type::directory) ReadRepository(path);
  }

  /// Adds a bare repository as one item: git takes any directory with a file HEAD for a repository
  /// if the rest is there.
  void AddBareRepository(const std::string& directory, const std::string& head) {
    Add(head);
    const auto item = state_.items.find({head, ""});
    const bool has_rest = TypeOf(In(directory, "objects")) != file_type::not_found &&
                          TypeOf(In(directory, "refs")) != file_type::not_found;
    if (item == state_.items.end() || !has_rest) return;
    State outer = std::exchange(state_, {});
    auto outer_data = std::exchange(data_, {});
    ReadRepository(directory);
    ReadData();
    const State parts = std::exchange(state_, std::move(outer));
    data_ = std::move(outer_data);
    state_.is_cut = state_.is_cut || parts.is_cut;
    // A part of it would look like a change.
    if (parts.is_cut) state_.items.erase({head, ""});
    if (!parts.is_cut) state_.items[{head, ""}].value += support::Sha256(Serialize(parts));
  }

  void ReadRepository(const std::string& repository) {
    ReadConfiguration(In(repository, "config"), "");
    ReadGitDirectory(repository, "");
  }

  /// Everything that is not known to be data. First what git runs soonest.
  void ReadGitDirectory(const std::string& repository, const std::string& inner) {
    const std::vector<Entry> entries = List(In(repository, inner));
    std::vector<std::string> unknown;
    for (const Entry& entry : entries) {
      if (entry.type != file_type::directory) AddGitFile(entry, In(inner, entry.name));
    }
    for (const Entry& entry : entries) {
      if (entry.type != file_type::directory) continue;
      const std::string path = In(inner, entry.name);
      if (path == "modules" || path == "worktrees") {
        ReadRepositories(entry.path);
      } else if (path == "hooks" || path == "info") {
        ReadGitDirectory(repository, path);
      } else if (IsGitDirectory(path)) {
        data_.push_back({repository, path});
      } else {
        unknown.push_back(path);
      }
    }
    for (const std::string& path : unknown) {
      Add(In(repository, path));
      ReadGitDirectory(repository, path);
    }
  }

  /// Reads the directories that make up most of a repository, such as objects/.
  void ReadData() {
    for (; !data_.empty(); data_.pop_front()) {
      const auto [repository, inner] = data_.front();
      ReadGitDirectory(repository, inner);
    }
  }

  /// `path` is that in the repository.
  void AddGitFile(const Entry& entry, const std::string& path) {
    const GitFile kind = KindOfGitFile(path);
    if (entry.type == file_type::regular) {
      if (kind == GitFile::kData) return;
      if (kind == GitFile::kConfiguration) return ReadConfiguration(entry.path, "");
      if (kind == GitFile::kReference && IsReference(Beginning(entry.path))) return;
      if (kind == GitFile::kLog && IsLog(Beginning(entry.path))) return;
    }
    Add(entry.path);
    const bool is_hook = path == "hooks" || path.starts_with("hooks/");
    if (is_hook && entry.type == file_type::symlink) AddTarget(entry.path);
  }

  std::string Beginning(const std::string& path) {
    std::array<char, 4096> bytes{};
    const support::FileDescriptor file(
        ::open((top_ / path).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    const ssize_t count = file.valid() ? ::read(file.get(), bytes.data(), bytes.size()) : -1;
    return count < 0 ? "?" : std::string(bytes.data(), static_cast<std::size_t>(count));
  }

  /// Names of submodules may have slashes.
  void ReadRepositories(const std::string& directory) {
    for (const Entry& entry : List(directory)) {
      if (entry.type != file_type::directory) {
        Add(entry.path);
      } else if (TypeOf(In(entry.path, "HEAD")) != file_type::not_found) {
        ReadRepository(entry.path);
      } else {
        ReadRepositories(entry.path);
      }
    }
  }

  /// `key` is the setting that makes git read the file.
  void ReadConfiguration(const std::string& file, const std::string& key) {
    if (TypeOf(file) == file_type::not_found || !configurations_.insert(file).second) return;
    if (!Spend(kConfiguration)) return;
    const auto text = ReadRegularFile(top_ / file, kMaxFile);
    // Only the text: git is not in the project, and follows no include.
    const git::GitOutput settings = git_.Run(
        {"-C", "/", "config", "--no-includes", "--file", "-", "--list", "-z"}, text.value_or(""));
    if (!text || !settings.ok() || settings.is_cut || !Spend(settings.output.size())) {
      return Add(file, key);
    }
    const auto all = git::Split(settings.output, '\0');
    const auto keys = NotHarmless(all);
    for (const std::string& setting : all) {
      const auto [name, value] = git::KeyAndValue(setting);
      if (keys.contains(name)) AddSetting(file, name, value);
    }
  }

  void AddSetting(const std::string& file, const std::string& key, const std::string& value) {
    if (!Spend(kItem + file.size() + key.size())) return;
    Item& item = state_.items[{file, key}];
    item = {kFileMode, support::Sha256(item.value + value)};
    const bool is_include = key.starts_with("include");
    for (const std::string& path :
         NamedPaths(key, value, is_include ? (top_ / file).parent_path() : top_)) {
      const auto below = support::PathBelow(path, top_.string());
      if (!below || below->empty()) continue;
      std::error_code error;
      const file_type type = fs::symlink_status(path, error).type();
      if (type == file_type::directory) {
        if (key == "core.hookspath") AddFiles(*below, key, false);
      } else if (is_include) {
        ReadConfiguration(*below, key);
      } else {
        Add(*below, key);
      }
    }
  }

  const fs::path top_;
  const Bounds bounds_;
  RowFinder finder_;
  const git::Git git_ = git::Git::Neutral("/nonexistent", -1);
  State state_;
  std::deque<Directory> waiting_;                         ///< level by level
  std::deque<std::pair<std::string, std::string>> data_;  ///< in repositories
  std::set<std::string> repositories_;                    ///< that were read
  std::set<std::string> configurations_;
  std::size_t entries_ = 0;
  std::size_t spent_ = 0;
};

}  // namespace

State ReadState(const fs::path& top, const fs::path& mount, const HostPrograms& programs,
                const std::string& search_path, const Bounds& bounds) {
  return Reader(top, programs, bounds).Read(mount, search_path);
}

}  // namespace exposure
