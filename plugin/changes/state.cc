#include "changes/state.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <system_error>

#include "copy/git.h"
#include "lima/text_file.h"
#include "paths/guest_reach.h"
#include "support/file_descriptor.h"
#include "support/paths.h"
#include "support/sha256.h"

namespace changes {
namespace {

namespace fs = std::filesystem;

/// Bytes that are read or kept. What is beyond is not examined.
constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
/// What an entry and a configuration, which takes a process, count as besides.
constexpr std::size_t kEntry = 500;
constexpr std::size_t kConfiguration = std::size_t{256} << 10;
/// Bytes of a file. A larger one is known by its size and time.
constexpr std::size_t kMaxFile = std::size_t{1} << 20;

constexpr const char* kFile = "100644";
constexpr const char* kSpecial = "010000";

/// Directories of which only the number of entries counts.
constexpr std::array<std::string_view, 5> kHeavy = {"node_modules", ".venv", "venv", "vendor",
                                                    "target"};
/// Where these have programs that PATH may name.
constexpr std::array<const char*, 2> kPrograms = {"/.bin", "/bin"};

/// Files of a repository that make git run or read something.
constexpr std::array<const char*, 6> kObeyedByGit = {"commondir",
                                                     "info/attributes",
                                                     "objects/info/alternates",
                                                     "rebase-apply",
                                                     "rebase-merge/git-rebase-todo",
                                                     "sequencer/todo"};
constexpr std::array<const char*, 3> kObeyedByOthers = {"hgrc", "requires", "repo/config.toml"};

bool IsBoolean(const std::string& value) {
  constexpr std::array<std::string_view, 9> kBooleans = {"true", "yes", "on", "1", "false",
                                                         "no",   "off", "0",  ""};
  return std::find(kBooleans.begin(), kBooleans.end(), value) != kBooleans.end();
}

/// Values of keys in the table that run nothing.
bool IsHarmless(const std::string& key, const std::string& value) {
  const bool is_of_remote =
      key.starts_with("remote.") && (key.ends_with("url") || key.ends_with(".pushdefault"));
  if (is_of_remote || key.starts_with("branch.")) return value.find("::") == value.npos;
  if (key.starts_with("submodule.")) return !value.starts_with('!');
  if (key == "core.fsmonitor" || key.starts_with("pager.")) return IsBoolean(value);
  return false;
}

class Reader {
 public:
  Reader(const fs::path& top, const paths::HostPrograms& programs)
      : top_(top), programs_(programs) {}

  State Read(const std::string& search_path) {
    ReadDirectory("");
    for (const std::string& directory : copy::Split(search_path, ':')) {
      const fs::path named = top_ / directory;
      for (const auto& path : {support::CleanPath(named.string()), paths::Resolved(named)}) {
        const auto below = support::PathBelow(path, top_.string());
        if (below) AddPrograms(std::string(*below), "PATH");
      }
    }
    return std::move(state_);
  }

 private:
  /// The paths in a directory; none if it is a link.
  std::vector<std::string> List(const std::string& directory) {
    std::vector<std::string> paths;
    std::error_code error;
    const fs::path path = top_ / directory;
    const auto type = fs::symlink_status(path, error).type();
    state_.is_cut = state_.is_cut || type == fs::file_type::none;
    if (type != fs::file_type::directory) return paths;
    for (fs::directory_iterator entry(path, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      paths.push_back(directory + (directory.empty() ? "" : "/") +
                      entry->path().filename().string());
      if (!Spend(kEntry + paths.back().size())) break;
    }
    state_.is_cut = state_.is_cut || error;
    std::sort(paths.begin(), paths.end());
    return paths;
  }

  /// Returns false beyond kMaxBytes.
  bool Spend(std::size_t bytes) {
    spent_ += bytes;
    state_.is_cut = state_.is_cut || spent_ > kMaxBytes;
    return spent_ <= kMaxBytes;
  }

  void ReadDirectory(const std::string& directory) {
    for (const std::string& path : List(directory)) {
      std::error_code error;
      const auto type = fs::symlink_status(top_ / path, error).type();
      state_.is_cut = state_.is_cut || type == fs::file_type::none;
      const std::string name = copy::Folded(fs::path(path).filename().string());
      if (type != fs::file_type::directory) {
        AddIfObeyed(path, type);
        if (name == "head") AddBareRepository(directory, path);
      } else if (name == ".git") {
        Add(path);
        ReadRepository(path);
      } else if (name == ".hg" || name == ".jj") {
        for (const char* file : kObeyedByOthers) Add(path + "/" + file);
      } else if (std::find(kHeavy.begin(), kHeavy.end(), name) != kHeavy.end()) {
        AddHeavy(path);
      } else {
        ReadDirectory(path);
      }
    }
  }

  void Add(const std::string& path, const std::string& key = "") {
    struct stat status {};
    const fs::path file = top_ / path;
    if (::lstat(file.c_str(), &status) != 0) return;
    Item item{kSpecial, ""};
    std::error_code error;
    if (S_ISLNK(status.st_mode)) item = {copy::kLink, fs::read_symlink(file, error).string()};
    if (S_ISDIR(status.st_mode)) item.mode = copy::kDirectory;
    if (S_ISREG(status.st_mode)) {
      item = {(status.st_mode & 0111U) != 0 ? copy::kProgram : kFile, Digest(file, status)};
    }
    if (Spend(path.size() + key.size() + item.value.size())) state_.items[{path, key}] = item;
  }

  std::string Digest(const fs::path& file, const struct stat& status) {
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size <= kMaxFile && Spend(size)) {
      if (const auto text = ReadRegularFile(file, kMaxFile)) return support::Sha256(*text);
    }
    return std::to_string(size) + " " + std::to_string(status.st_ctime);
  }

  void AddIfObeyed(const std::string& path, fs::file_type type) {
    std::error_code error;
    const bool leads_out = type == fs::file_type::symlink &&
                           copy::LeadsOut(path, fs::read_symlink(top_ / path, error).string());
    if (leads_out || !copy::RowsOfPath(path, programs_).empty()) Add(path);
  }

  void AddHeavy(const std::string& directory) {
    for (const char* programs : kPrograms) AddPrograms(directory + programs);
    std::size_t count = 0;
    std::error_code error;
    fs::recursive_directory_iterator entry(top_ / directory, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      if (!Spend(kEntry)) break;
      ++count;
    }
    state_.is_cut = state_.is_cut || error || entry != fs::recursive_directory_iterator();
    state_.items[{directory, ""}] = {copy::kDirectory, std::to_string(count) + " entries"};
  }

  /// Executables and links in a directory.
  void AddPrograms(const std::string& directory, const std::string& key = "") {
    constexpr fs::perms kExecutable =
        fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
    std::error_code error;
    if (fs::is_symlink(top_ / directory, error)) Add(directory, key);
    for (const std::string& path : List(directory)) {
      const fs::file_status status = fs::symlink_status(top_ / path, error);
      const bool is_program = status.type() == fs::file_type::symlink ||
                              (status.type() == fs::file_type::regular &&
                               (status.permissions() & kExecutable) != fs::perms::none);
      // No hook has that name.
      if (is_program && !path.ends_with(".sample")) Add(path, key);
    }
  }

  // git's own directories.

  /// As one item: git takes any directory with a file HEAD for a repository if the rest is there.
  void AddBareRepository(const std::string& directory, const std::string& head) {
    auto outer = std::exchange(state_.items, {});
    ReadRepository(directory);
    const std::string parts = Serialize(state_);
    state_.items = std::move(outer);
    Add(head);
    state_.items[{head, ""}].value += support::Sha256(parts);
  }

  void ReadRepository(const std::string& directory) {
    const std::string within = directory + (directory.empty() ? "" : "/");
    for (const char* file : kObeyedByGit) Add(within + file);
    for (const char* name : {"config", "config.worktree"}) ReadConfiguration(within + name, "");
    AddPrograms(within + "hooks");
    for (const char* name : {"modules", "worktrees"}) ReadRepositories(within + name);
  }

  /// Names of submodules may have slashes.
  void ReadRepositories(const std::string& directory) {
    for (const std::string& path : List(directory)) {
      std::error_code error;
      if (fs::exists(fs::symlink_status(top_ / path / "HEAD", error))) {
        ReadRepository(path);
      } else {
        ReadRepositories(path);
      }
    }
  }

  /// `key` is the setting that makes git read the file.
  void ReadConfiguration(const std::string& file, const std::string& key) {
    if (!configurations_.insert(file).second || !Spend(kConfiguration)) return;
    const auto text = ReadRegularFile(top_ / file, kMaxFile);
    // Only the text: git is not in the project, and follows no include.
    const copy::GitOutput settings = git_.Run(
        {"-C", "/", "config", "--no-includes", "--file", "-", "--list", "-z"}, text.value_or(""));
    if (!text || !settings.ok() || settings.is_cut || !Spend(settings.output.size())) {
      return Add(file, key);
    }
    for (const std::string& setting : copy::Split(settings.output, '\0')) {
      const auto [name, value] = copy::KeyAndValue(setting);
      AddSetting(file, name, value);
    }
  }

  void AddSetting(const std::string& file, const std::string& key, const std::string& value) {
    if (copy::RowOfKey(key, programs_) == nullptr || IsHarmless(key, value)) return;
    Item& item = state_.items[{file, key}];
    item = {kFile, support::Sha256(item.value + value)};
    const bool is_include = key.starts_with("include");
    for (const std::string& path :
         copy::NamedPaths(key, value, is_include ? (top_ / file).parent_path() : top_)) {
      const auto below = support::PathBelow(path, top_.string());
      if (!below || below->empty()) continue;
      std::error_code error;
      const auto type = fs::symlink_status(path, error).type();
      if (type == fs::file_type::directory) {
        if (key == "core.hookspath") AddPrograms(std::string(*below), key);
      } else if (is_include) {
        ReadConfiguration(std::string(*below), key);
      } else {
        Add(std::string(*below), key);
      }
    }
  }

  const fs::path top_;
  const paths::HostPrograms& programs_;
  const copy::Git git_ = copy::Git::Neutral("/nonexistent", -1);
  State state_;
  std::set<std::string> configurations_;  ///< that were read
  std::size_t spent_ = 0;                 ///< of kMaxBytes
};

}  // namespace

State ReadState(const fs::path& top, const paths::HostPrograms& programs,
                const std::string& search_path) {
  return Reader(top, programs).Read(search_path);
}

std::vector<copy::Change> Compare(const State& before, const State& after) {
  std::vector<copy::Change> changes;
  const Item none{copy::kNone, ""};
  auto all = after.items;
  all.insert(before.items.begin(), before.items.end());
  for (const auto& [place, unused] : all) {
    const auto was = before.items.find(place);
    const auto is = after.items.find(place);
    if (is == after.items.end() && after.is_cut) continue;  // it may be there
    const Item& old_item = was == before.items.end() ? none : was->second;
    const Item& item = is == after.items.end() ? none : is->second;
    if (old_item == item) continue;
    const auto& [path, key] = place;
    copy::Change change{{path, old_item.mode, item.mode, "", ""}};
    change.key = key;
    change.note = key;
    if (item.mode == copy::kLink) change.target = item.value;
    if (item.mode == copy::kDirectory) change.note = item.value;
    changes.push_back(std::move(change));
  }
  return changes;
}

std::string Serialize(const State& state) {
  std::string text;
  for (const auto& [place, item] : state.items) {
    for (const std::string& field : {place.first, place.second, item.mode, item.value}) {
      text += field + '\0';
    }
  }
  return text;
}

std::optional<std::string> ReadRegularFile(const fs::path& file, std::size_t limit) try {
  const support::FileDescriptor opened(
      ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return lima::ReadTextFile(opened, file, limit);
} catch (const support::CallError&) {
  return std::nullopt;
}

}  // namespace changes
