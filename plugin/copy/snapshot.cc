// SPDX-License-Identifier: Apache-2.0
#include "copy/snapshot.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <set>
#include <system_error>

#include "paths/names.h"
#include "support/errors.h"
#include "support/file_descriptor.h"
#include "support/files.h"
#include "support/format.h"

namespace copy {

using git::EachWithNul;
using git::Split;
namespace {

namespace fs = std::filesystem;
using support::Error;

constexpr const char* kObjects = "objects";
constexpr const char* kTaken = "list";
constexpr std::chrono::hours kMaxCheckout{1};

fs::path Place(const SideRepository& side, int number) {
  return side.path() / support::Format("replaced-{}", number);
}

void Sync(const fs::path& path) {
  const support::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.valid() && ::fsync(file.get()) == 0) return;
  throw Error("cannot save {}: {}", path.string(), std::generic_category().message(errno));
}

File Stat(const fs::path& top, const std::string& path) {
  File file{.path = path};
  struct stat status {};
  if (::lstat((top / path).c_str(), &status) != 0) return file;
  file.mode = S_ISLNK(status.st_mode) ? S_IFLNK : status.st_mode;
  if (S_ISLNK(status.st_mode)) file.id = fs::read_symlink(top / path).string();
  return file;
}

}  // namespace

bool File::IsDirectory() const {
  return S_ISDIR(mode);
}

bool File::IsRegular() const {
  return S_ISREG(mode);
}

std::vector<std::string> PathsOf(const Files& files) {
  std::vector<std::string> paths;
  for (const File& file : files) paths.push_back(file.path);
  return paths;
}

File At(const Files& files, const std::string& path) {
  const auto found = std::lower_bound(
      files.begin(), files.end(), path,
      [](const File& file, const std::string& wanted) { return file.path < wanted; });
  return found != files.end() && found->path == path ? *found : File{.path = path};
}

Git RawSnapshot::ObjectGit() const {
  return Git::Neutral(side_->path(), side_->lock(), Git::Limits::kNone)
      .With({{"GIT_OBJECT_DIRECTORY", (directory_ / kObjects).string()},
             {"GIT_INDEX_FILE", (directory_ / "index").string()}});
}

void RawSnapshot::WriteList(const char* name, const Files& files) const {
  std::string text = applied_ + '\0' + sent_ + '\0';
  for (const File& file : files)
    text += file.path + '\0' + std::to_string(file.mode) + '\0' + file.id + '\0';
  support::WriteText(directory_ / name, text);
  Sync(directory_ / name);
}

Files RawSnapshot::ReadList(const char* name) {
  const std::vector<std::string> parts = Split(support::ReadText(directory_ / name), '\0');
  if (parts.size() % 3 != 2) throw Error("{} is damaged", (directory_ / name).string());
  applied_ = parts[0];
  sent_ = parts[1];
  Files files;
  for (std::size_t i = 2; i < parts.size(); i += 3)
    files.push_back({parts[i], static_cast<unsigned>(std::stoul(parts[i + 1])), parts[i + 2]});
  return files;
}

/// Nothing behind a link, which may lead anywhere, counts as there.
Files RawSnapshot::Read(const std::vector<std::string>& paths, bool keep) const {
  const fs::path& top = side_->place().top;
  std::set<std::string> all;
  for (const std::string& path : paths) {
    for (fs::path part = path; !part.empty(); part = part.parent_path()) all.insert(part.string());
  }
  Files files;
  std::string regular;
  for (const std::string& path : all) {
    const std::string parent = fs::path(path).parent_path().string();
    const bool is_reachable = parent.empty() || At(files, parent).IsDirectory();
    files.push_back(is_reachable ? Stat(top, path) : File{.path = path});
    if (files.back().IsRegular()) regular += Quoted((top / path).string()) + "\n";
  }
  if (regular.empty()) return files;
  // git from 2.36 on reads the first setting, older ones the other.
  Git::Arguments hash = {
      "-c",          "core.fsync=all", "-c",           "core.fsyncObjectFiles=true",
      "hash-object", "--no-filters",   "--stdin-paths"};
  if (keep) hash.emplace_back("-w");
  const std::vector<std::string> ids =
      Split(ObjectGit().Require(hash, "cannot save your files", regular), '\n');
  std::size_t next = 0;
  for (File& file : files) {
    if (file.IsRegular()) file.id = ids.at(next++);
  }
  return files;
}

RawSnapshot RawSnapshot::Take(const SideRepository& side, const std::vector<std::string>& paths,
                              const fs::path& scratch) {
  RawSnapshot snapshot(side, scratch / "snapshot");
  fs::remove_all(snapshot.directory_);
  fs::create_directories(snapshot.directory_ / kObjects);
  try {
    snapshot.files_ = snapshot.Read(paths, true);
  } catch (const Error& error) {
    throw Error(git::Unchanged(error.what()));
  }
  snapshot.WriteList(kTaken, snapshot.files_);
  return snapshot;
}

std::optional<RawSnapshot> RawSnapshot::Find(const SideRepository& side, int number) {
  RawSnapshot snapshot(side, Place(side, number));
  std::error_code none;
  if (!fs::exists(snapshot.directory_, none)) return std::nullopt;
  snapshot.files_ = snapshot.ReadList(kTaken);
  return snapshot;
}

void RawSnapshot::Publish(int number) {
  const fs::path place = Place(*side_, number);
  fs::rename(directory_, place);
  directory_ = place;
  Sync(place.parent_path());
}

Files RawSnapshot::Look(const std::vector<std::string>& paths) const {
  return Read(paths, false);
}

/// Removes what stands in the way of `wanted`, the files of a directory before it.
void RawSnapshot::Clear(const Files& wanted, const Files& now) const {
  for (auto file = wanted.rbegin(); file != wanted.rend(); ++file) {
    const File there = At(now, file->path);
    const bool may_stay = there == *file || (there.IsDirectory() && file->IsDirectory()) ||
                          (there.IsRegular() && file->IsRegular() && there.id == file->id);
    std::error_code error;  // what fails shows in the comparison
    if (there.mode != 0 && !may_stay) fs::remove(fs::path(side_->place().top) / file->path, error);
  }
}

void RawSnapshot::Write(const Files& wanted, const Files& now) const {
  const fs::path& top = side_->place().top;
  std::error_code error;
  std::vector<std::string> paths;
  std::string entries;
  for (const File& file : wanted) {
    if (file.IsDirectory()) fs::create_directory(top / file.path, error);
    if (S_ISLNK(file.mode) && At(now, file.path) != file)
      fs::create_symlink(file.id, top / file.path, error);
    const File there = At(now, file.path);
    if (!file.IsRegular() || (there.IsRegular() && there.id == file.id)) continue;
    // git would remove a directory with other files.
    if (Stat(top, file.path).mode != 0) continue;
    entries += "100644 " + file.id + "\t" + file.path + '\0';
    paths.push_back(file.path);
  }
  if (!paths.empty()) {
    fs::create_directories(side_->path() / "info");
    support::WriteText(side_->path() / "info/attributes", kRawAttributes);
    fs::remove(directory_ / "index");
    const Git git = ObjectGit().In(top, kMaxCheckout);
    git.Require({"update-index", "-z", "--index-info"}, "git cannot write its index", entries);
    (void)git.Run({"checkout-index", "-z", "--stdin"}, EachWithNul(paths));
  }
  for (const File& file : wanted) {
    const bool has_permissions = file.IsRegular() || file.IsDirectory();
    if (!has_permissions || At(now, file.path) == file) continue;
    fs::permissions(top / file.path, fs::perms{file.mode & 07777U}, error);
  }
}

std::vector<std::string> RawSnapshot::Put(const Files& wanted) const {
  const Files now = Look(PathsOf(wanted));
  Clear(wanted, now);
  Write(wanted, now);
  std::vector<std::string> different;
  for (const File& file : Look(PathsOf(wanted))) {
    const File due = At(wanted, file.path);
    const bool has_others = file.IsDirectory() && due.mode == 0;
    if (file != due && !has_others) different.push_back(file.path);
  }
  return different;
}

void RawSnapshot::Remove() const {
  fs::remove_all(directory_);
}

Files LookAt(const SideRepository& side, const std::vector<std::string>& paths) {
  return RawSnapshot(side, side.path()).Look(paths);
}

int NextNumber(const SideRepository& side) {
  const std::string& number = side.facts().replaced;
  return number.empty() ? 1 : std::stoi(number) + 1;
}

void FinishChange(SideRepository& side, int number, const std::string& applied) {
  int old = NextNumber(side) - 1;
  CopyFacts facts = side.facts();
  facts.applied = applied;
  facts.replaced = std::to_string(number);
  side.Save(facts);
  for (; old < number; ++old) fs::remove_all(Place(side, old));
}

std::string Named(std::vector<std::string> paths) {
  constexpr std::size_t kMostNamed = 10;
  for (std::string& path : paths) path = paths::Visible(path);
  return paths::List(paths, kMostNamed);
}

}  // namespace copy
