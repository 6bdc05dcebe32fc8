// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "git/git.h"
#include "support/file_descriptor.h"

namespace copy {

using git::Git;

struct Project;

enum class LockKind { kShared, kExclusive };

/// An flock(2) on a file. Held until it is closed, here and in every child that inherited it.
using FileLock = support::FileDescriptor;

/// Makes the file if it is missing; nothing removes it. It has the number of the process that got
/// the lock last. Logs what it waits for after two seconds. Returns nothing if another process
/// holds the lock longer than `wait`. Throws support::Error if the file cannot be made.
std::optional<FileLock> LockFile(const std::filesystem::path& file, LockKind kind,
                                 std::chrono::milliseconds wait);

/// The host's record of a copy. The ids are commits', each empty if there is none.
struct CopyFacts {
  std::string project = {};    ///< on the host
  std::string directory = {};  ///< of the copy, in the guest
  std::string branch = {};     ///< the copy's, when it was sent
  std::string sent = {};       ///< the working tree that the copy began with
  std::string base = {};       ///< the user's HEAD then
  std::string work = {};       ///< what came back last
  std::string taken = {};      ///< what the branch was set to last, since `sent`
  std::string applied = {};   ///< what the working tree has of it: `sent`, or what was applied last
  std::string branches = {};  ///< lines: name, tab, source, tab, id; the last counts
  std::string replaced = {};  ///< the number of the snapshot from before the last change by `take`
  std::string setup = {};     ///< the command of `--setup`
  std::string setup_end = {};  ///< its exit status in this copy; empty until it has come to an end

  std::string name = {};  ///< of `--name`
  std::string lent = {};  ///< see lend.h

  /// Those that the side repository keeps.
  [[nodiscard]] std::vector<std::string> Commits() const;
};

/// A branch that `take` has set since the last send, unless it was killed: what it was made of, and
/// its commit.
struct TakenBranch {
  std::string source;
  std::string id;
};

/// By their names.
std::map<std::string, TakenBranch> TakenBranches(const CopyFacts& facts);

/// The side repositories of an instance, of copies and of what is set aside.
std::vector<std::filesystem::path> ListRepositories(
    const std::filesystem::path& instance_directory);

/// Empty if there is no record. Needs no lock.
std::optional<CopyFacts> ReadFactsIn(const std::filesystem::path& repository);

/// Deletes a side repository.
void RemoveRecord(const std::filesystem::path& repository);

/// The facts of all copies in an instance, by project and name. Needs no lock.
std::vector<CopyFacts> ListFacts(const std::filesystem::path& instance_directory);

/// Which copy in an instance a command means.
struct Choice {
  std::string project = {};    ///< empty: the repository of the current directory
  std::string name = {};       ///< of `--name`; empty: the copy without a name
  std::string directory = {};  ///< in the guest; empty: where it is, or DefaultDirectory
};

/// A project, an instance and the copy's name, and where their side repository lies.
struct SidePlace {
  SidePlace(const std::filesystem::path& instance_directory, std::string project_path,
            const std::string& copy_name);

  /// The place of the copy with this name whose project holds the host's `path`.
  static std::optional<SidePlace> Find(const std::filesystem::path& instance_directory,
                                       const std::filesystem::path& path, const std::string& name);

  /// Empty if there is no copy. Needs no lock.
  [[nodiscard]] std::optional<CopyFacts> ReadFacts() const;

  /// The lock that an agent holds while it uses the copy; exclusive to replace or drop it.
  [[nodiscard]] std::optional<FileLock> TakeUse(LockKind kind) const;

  /// The lock for changing files of the project, which may have copies in several instances. A file
  /// in Lima's home: some file systems lock no directory. Throws support::Error.
  [[nodiscard]] FileLock LockTree() const;

  /// Beside the project for a named copy, so that "../lib" leads where it did.
  [[nodiscard]] std::string DefaultDirectory() const;

  /// "An agent works in this copy …", and what to do.
  [[nodiscard]] std::string InUseText() const;

  /// "There is no copy of …", and what to do.
  [[nodiscard]] std::string NoCopyText() const;

  std::string instance;
  std::string name;
  std::string selector;   ///< for commands in texts: "agent --name fix-x"
  std::string arguments;  ///< the same, with --project if it was given
  std::filesystem::path instance_directory;
  std::string project;  ///< its path on the host when it was copied
  std::string top;      ///< where it is now
  std::string id;       ///< of the project and the name
  std::filesystem::path repository;
};

/// The bare repository beside the user's, in the instance's directory. It borrows the user's
/// objects, and holds what was sent and what came back. Its refs only keep objects: their ids are
/// in a file, because the user's `git gc` may delete what it borrows.
class SideRepository {
 public:
  /// Waits for another command to end, and removes what a killed one left. Throws
  /// support::Error, also if the copy is not in `directory`; empty: where the copy is, or
  /// DefaultDirectory.
  explicit SideRepository(SidePlace place, const std::string& directory = "");
  ~SideRepository();
  SideRepository(const SideRepository&) = delete;
  SideRepository& operator=(const SideRepository&) = delete;

  [[nodiscard]] const SidePlace& place() const { return place_; }
  [[nodiscard]] const std::filesystem::path& path() const { return place_.repository; }
  [[nodiscard]] int lock() const { return lock_.get(); }
  [[nodiscard]] const Git& git() const { return git_; }

  /// Makes it if it is missing, and lets it borrow the objects of `project`.
  void Prepare(const Project& project);

  /// The project was moved: borrows its objects from there. Throws support::Error if that is
  /// another one.
  void Follow(const Project& moved);

  /// Empty `sent`: the copy is not complete.
  [[nodiscard]] const CopyFacts& facts() const { return facts_; }

  /// Replaces the facts, all or none. At no time do they name a commit that no ref keeps.
  void Save(const CopyFacts& facts);

  /// Makes an empty scratch directory; the destructor removes it.
  [[nodiscard]] std::filesystem::path MakeScratch() const;

  /// Writes a pack of the revisions (lines), and its .idx, to a scratch directory.
  [[nodiscard]] std::filesystem::path MakePack(const Git& git, const std::string& revisions) const;

  /// Renames it, for SetAside, or the other way round. Then there is no copy, or that one.
  void MoveTo(const std::filesystem::path& repository);
  void MoveFrom(const std::filesystem::path& repository);

 private:
  SidePlace place_;
  FileLock lock_;
  Git git_;
  CopyFacts facts_;
};

/// The text in quotes, in git's C style.
std::string Quoted(const std::string& text);

/// Whether it is 40 or 64 hexadecimal digits.
bool IsObjectId(std::string_view text);

}  // namespace copy
