// SPDX-License-Identifier: Apache-2.0
#include "copy/saved_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "copy/side_repository.h"
#include "git/git.h"
#include "support/errors.h"
#include "support/file_descriptor.h"
#include "support/files.h"

namespace copy {

using git::Split;
namespace {

namespace fs = std::filesystem;
using fs::file_type;

constexpr const char* kList = "list";
constexpr const char* kFiles = "files";

void Sync(const fs::path& path) {
  const support::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() || ::fsync(file.get()) != 0) {
    throw fs::filesystem_error("sync", path, std::error_code(errno, std::generic_category()));
  }
}

bool HaveSameBytes(const fs::path& one, const fs::path& other) {
  std::ifstream first(one, std::ios::binary);
  std::ifstream second(other, std::ios::binary);
  std::array<char, 65536> a{};
  std::array<char, 65536> b{};
  while (first && second) {
    first.read(a.data(), a.size());
    second.read(b.data(), b.size());
    if (first.gcount() != second.gcount()) return false;
    if (!std::equal(a.begin(), a.begin() + first.gcount(), b.begin())) return false;
  }
  return first.eof() && second.eof();
}

/// The paths and the directories that they are in, sorted: a directory comes before its files.
std::set<std::string> WithDirectories(const std::vector<std::string>& paths) {
  std::set<std::string> all;
  for (const std::string& path : paths) {
    for (fs::path part = path; !part.empty(); part = part.parent_path()) all.insert(part.string());
  }
  return all;
}

}  // namespace

file_type TypeBelow(const fs::path& top, const std::string& path) {
  std::error_code error;
  for (fs::path above = fs::path(path).parent_path(); !above.empty(); above = above.parent_path()) {
    if (fs::symlink_status(top / above, error).type() != file_type::directory) {
      return file_type::not_found;
    }
  }
  const file_type type = fs::symlink_status(top / path, error).type();
  return type == file_type::none ? file_type::not_found : type;
}

SavedFiles SavedFiles::Save(const fs::path& top, const std::vector<std::string>& paths,
                            const std::string& purpose, const fs::path& scratch,
                            const fs::path& directory) try {
  const fs::path incomplete = scratch / "saved";
  fs::create_directories(incomplete / kFiles);
  SavedFiles saved(top, directory);
  saved.purpose_ = purpose;
  std::string list = purpose + '\0';
  for (const std::string& path : WithDirectories(paths)) {
    Entry entry = saved.Read(path);
    const fs::path copy = incomplete / kFiles / path;
    if (entry.type == file_type::directory) fs::create_directories(copy);
    if (entry.type == file_type::regular) {
      fs::create_directories(copy.parent_path());
      fs::copy_file(top / path, copy);
      Sync(copy);
    }
    list += path + '\0' + std::to_string(static_cast<int>(entry.type)) + '\0' +
            std::to_string(static_cast<unsigned>(entry.permissions)) + '\0' + entry.target + '\0';
    saved.entries_.push_back(std::move(entry));
  }
  support::WriteText(incomplete / kList, list);
  Sync(incomplete / kList);
  fs::rename(incomplete, directory);
  Sync(directory.parent_path());
  return saved;
} catch (const fs::filesystem_error& error) {
  throw support::CommandError("cannot save {}: {}", error.path1().string(), error.code().message());
}

std::optional<SavedFiles> SavedFiles::Find(const fs::path& top, const fs::path& directory) {
  const std::vector<std::string> parts = Split(support::ReadText(directory / kList), '\0');
  if (parts.empty()) return std::nullopt;
  SavedFiles saved(top, directory);
  saved.purpose_ = parts[0];
  for (std::size_t i = 1; i + 3 < parts.size(); i += 4) {
    saved.entries_.push_back({.path = parts[i],
                              .type = static_cast<file_type>(std::stoi(parts[i + 1])),
                              .permissions = static_cast<fs::perms>(std::stoul(parts[i + 2])),
                              .target = parts[i + 3]});
  }
  return saved;
}

SavedFiles::Entry SavedFiles::Read(const std::string& path) const {
  Entry entry{.path = path, .type = TypeBelow(top_, path)};
  if (entry.type == file_type::symlink) {
    entry.target = fs::read_symlink(top_ / path).string();
  } else if (entry.type != file_type::not_found) {
    entry.permissions = fs::status(top_ / path).permissions();
  }
  return entry;
}

bool SavedFiles::IsAsSaved(const Entry& entry) const {
  const Entry now = Read(entry.path);
  return now.type == entry.type && now.permissions == entry.permissions &&
         now.target == entry.target &&
         (now.type != file_type::regular ||
          HaveSameBytes(top_ / entry.path, directory_ / kFiles / entry.path));
}

std::vector<std::string> SavedFiles::PutBack(const std::optional<fs::path>& displaced) const {
  std::error_code error;  // what fails shows in the comparison
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if (IsAsSaved(*entry)) continue;
    const file_type now = Read(entry->path).type;
    if (now == file_type::not_found) continue;
    if (now == file_type::directory && entry->type == file_type::directory) continue;
    const fs::path path = top_ / entry->path;
    if (displaced && now != file_type::directory) {
      fs::create_directories((*displaced / entry->path).parent_path(), error);
      fs::copy(path, *displaced / entry->path, fs::copy_options::copy_symlinks, error);
      if (error) continue;  // it would be lost
    }
    fs::remove(path, error);
  }
  for (const Entry& entry : entries_) {
    if (IsAsSaved(entry)) continue;
    const fs::path path = top_ / entry.path;
    if (entry.type == file_type::directory) fs::create_directory(path, error);
    if (entry.type == file_type::regular) {
      fs::copy_file(directory_ / kFiles / entry.path, path, error);
    }
    if (entry.type == file_type::symlink) fs::create_symlink(entry.target, path, error);
    if (entry.type == file_type::regular || entry.type == file_type::directory) {
      fs::permissions(path, entry.permissions, error);
    }
  }
  std::vector<std::string> different;
  for (const Entry& entry : entries_) {
    if (!IsAsSaved(entry)) different.push_back(entry.path);
  }
  return different;
}

void SavedFiles::Discard(const fs::path& scratch) const {
  fs::rename(directory_, scratch / "discarded");
}

}  // namespace copy
