// SPDX-License-Identifier: Apache-2.0
#include "copy/mounted_tree.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <system_error>

#include "copy/copy.h"
#include "copy/diff.h"
#include "copy/snapshot.h"
#include "paths/names.h"
#include "support/errors.h"
#include "support/files.h"
#include "support/format.h"
#include "support/units.h"

namespace copy {
namespace {

namespace fs = std::filesystem;
using support::Format;

constexpr std::chrono::seconds kTreeWait{10};
/// To list the files, and to read one. A pipe in the place of a file of rules takes all of it.
constexpr std::chrono::minutes kMaxListTime{1};
constexpr std::chrono::minutes kMaxTime{10};
constexpr const char* kTree = "refs/kept/tree";
constexpr const char* kReading = "git cannot read the project";

fs::path DirectoryOf(const SidePlace& place) {
  return fs::path(place.repository).replace_extension(".tree");
}

FileLock TakeLock(const fs::path& file) {
  auto lock = LockFile(file, LockKind::kExclusive, kTreeWait);
  if (!lock) throw support::Error("another limactl mcp reads the project; try again later");
  return std::move(*lock);
}

/// For `git update-index --index-info`: no entry for this path.
std::string Absent(const std::string& path) {
  return "0 " + std::string(40, '0') + '\t' + path + '\0';
}

/// Whether its status has changed since `other` was written, or in the same second.
bool HasChangedSince(const fs::path& file, const struct stat& other) {
  struct stat status {};
  return ::lstat(file.c_str(), &status) != 0 || status.st_ctime >= other.st_mtime;
}

/// Whether it is a directory, and no link is on its way. `known` has what was found before. Throws
/// if git would wait for a pipe in it.
bool IsDirectory(const fs::path& top, const fs::path& path, std::map<fs::path, bool>& known) {
  const auto [found, is_new] = known.emplace(path, false);
  if (!is_new) return found->second;
  std::error_code none;
  found->second = (path.empty() || IsDirectory(top, path.parent_path(), known)) &&
                  fs::symlink_status(top / path, none).type() == fs::file_type::directory;
  const fs::path rules = path / ".gitattributes";
  if (found->second && fs::is_fifo(fs::symlink_status(top / rules, none)))
    throw support::Error("{} is a pipe: remove it", paths::Visible(rules.string()));
  return found->second;
}

}  // namespace

MountedTree::MountedTree(const fs::path& instance_directory, const std::string& top)
    : top_(top),
      directory_(DirectoryOf(SidePlace(instance_directory, top, ""))),
      lock_(TakeLock(directory_.string() + ".lock")),
      git_(Git::Neutral(directory_, lock_.get(), Git::Limits::kNone)) {}

void MountedTree::Keep() {
  git_.Require({"init", "-q", "--bare", "--template="}, kReading);
  fs::permissions(directory_, fs::perms::owner_all);
  fs::create_directories(directory_ / "info");
  support::WriteText(directory_ / "info/attributes", kRawAttributes);
  std::map<std::string, std::vector<std::string>> left_out;
  git_.Require({"update-ref", kTree, WriteTree(kMaxSize, left_out)}, kReading);
}

void MountedTree::PrintDiff(bool only_names, std::uint64_t max_size) {
  const std::string kept = git_.Run({"rev-parse", "-q", "--verify", kTree}).Line();
  if (kept.empty()) {
    throw support::Error("the files of {} were not kept: limactl mcp changes --accept {}", top_,
                         directory_.parent_path().parent_path().filename().string());
  }
  std::map<std::string, std::vector<std::string>> left_out;
  const std::string tree = WriteTree(max_size, left_out);
  for (const auto& [reason, names] : left_out) {
    std::cerr << Format("Note: not compared, since {}: {}\n", reason, paths::List(names));
  }
  copy::PrintDiff(git_, {kept, tree}, only_names);
}

std::string MountedTree::WriteTree(
    std::uint64_t max_size, std::map<std::string, std::vector<std::string>>& left_out) const {
  std::error_code gone;
  fs::remove(directory_ / "index.lock", gone);
  git_.Require({"prune", "--expire=now"}, kReading);  // what the last diff has left
  const std::string files =
      git_.In(top_, kMaxListTime)
          .Require({"ls-files", "-z", "-c", "-o", "--exclude-standard"}, kReading);
  struct stat index {};
  const bool is_first = ::stat((directory_ / "index").c_str(), &index) != 0;
  std::string present;
  std::string absent;
  std::map<fs::path, bool> directories;
  for (const std::string& path : git::Split(files, '\0')) {
    const fs::path file = fs::path(top_) / path;
    const fs::file_type type = fs::symlink_status(file, gone).type();
    const bool is_regular = type == fs::file_type::regular;
    if (path.ends_with('/')) {
      left_out["they are repositories of their own"].push_back(paths::Visible(path));
    } else if ((!is_regular && type != fs::file_type::symlink) ||
               !IsDirectory(top_, fs::path(path).parent_path(), directories)) {
      absent += Absent(path);
    } else if (is_regular && ::access(file.c_str(), R_OK) != 0) {
      left_out["they cannot be read"].push_back(paths::Visible(path));
    } else if (is_regular && fs::file_size(file, gone) > max_size) {
      left_out[Format("they have more than {}, see --max-size", support::FormatByteCount(max_size))]
          .push_back(paths::Visible(path));
    } else {
      // git compares whole seconds, and the guest can set the other time back.
      if (!is_first && HasChangedSince(file, index)) absent += Absent(path);
      present += path + '\0';
    }
  }
  const Git git = git_.In(top_, kMaxTime);
  git.Require({"update-index", "-z", "--index-info"}, kReading, absent);
  git.Require({"update-index", "--add", "--replace", "--remove", "-z", "--stdin"}, kReading,
              present);
  return git.Require({"write-tree"}, kReading);
}

}  // namespace copy
