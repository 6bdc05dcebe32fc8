// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "copy/side_repository.h"

namespace copy {

/// Attributes with which no setting of the project changes a byte.
inline constexpr const char* kRawAttributes = "* -text -ident -filter !working-tree-encoding\n";

/// What is at a path of a working tree.
struct File {
  std::string path;
  unsigned mode = 0;    ///< type and permissions as in lstat(2), of a link the type; 0: nothing
  std::string id = {};  ///< of a regular file's bytes, as git has it, or where a link leads

  bool operator==(const File&) const = default;
  [[nodiscard]] bool IsDirectory() const;
  [[nodiscard]] bool IsRegular() const;
};

/// Sorted by path: a directory comes before what is in it.
using Files = std::vector<File>;

std::vector<std::string> PathsOf(const Files& files);

/// The file with that path, or nothing at it.
File At(const Files& files, const std::string& path);

/// Files of a working tree as they are: their bytes, whatever git's settings and attributes say. It
/// is a directory of the side repository with an object store of its own, which no gc changes. Each
/// function throws support::Error.
class RawSnapshot {
 public:
  /// Reads the `paths` and the directories that they are in, and writes a snapshot below `scratch`.
  static RawSnapshot Take(const SideRepository& side, const std::vector<std::string>& paths,
                          const std::filesystem::path& scratch);

  /// The snapshot with this number, if there is one.
  static std::optional<RawSnapshot> Find(const SideRepository& side, int number);

  /// Gives it a number. Once one is there, it is complete and on disk.
  void Publish(int number);

  [[nodiscard]] const Files& files() const { return files_; }

  /// What is at the paths and at the directories that they are in now.
  [[nodiscard]] Files Look(const std::vector<std::string>& paths) const;

  /// Makes the paths as `wanted` has them, whose bytes are in this snapshot. Touches only what
  /// differs. Compares afterwards, and returns the paths that still differ, but for directories
  /// with other files.
  [[nodiscard]] std::vector<std::string> Put(const Files& wanted) const;

  /// CopyFacts::applied and CopyFacts::sent when it was taken.
  [[nodiscard]] const std::string& applied() const { return applied_; }
  [[nodiscard]] const std::string& sent() const { return sent_; }

  /// Keeps with it what became of the files.
  void Complete(const Files& changed) const { WriteList("done", changed); }
  [[nodiscard]] Files ReadChanged() { return ReadList("done"); }

  void Remove() const;

 private:
  friend Files LookAt(const SideRepository& side, const std::vector<std::string>& paths);
  RawSnapshot(const SideRepository& side, std::filesystem::path directory)
      : side_(&side),
        directory_(std::move(directory)),
        applied_(side.facts().applied),
        sent_(side.facts().sent) {}
  [[nodiscard]] Files Read(const std::vector<std::string>& paths, bool keep) const;
  [[nodiscard]] Git ObjectGit() const;
  void WriteList(const char* name, const Files& files) const;
  Files ReadList(const char* name);
  void Clear(const Files& wanted, const Files& now) const;
  void Write(const Files& wanted, const Files& now) const;

  const SideRepository* side_;
  std::filesystem::path directory_;
  std::string applied_;
  std::string sent_;
  Files files_;
};

/// What is at the paths of the working tree and at the directories that they are in.
Files LookAt(const SideRepository& side, const std::vector<std::string>& paths);

/// The number of the next snapshot: one more than the facts have.
int NextNumber(const SideRepository& side);

/// Saves that the change for which the snapshot `number` was taken is complete, and removes older
/// ones.
void FinishChange(SideRepository& side, int number, const std::string& applied);

/// Up to ten paths, printable.
std::string Named(std::vector<std::string> paths);

}  // namespace copy
