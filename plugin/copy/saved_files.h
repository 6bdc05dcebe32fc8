// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace copy {

/// The type of the file at `path` below `top`. Not found behind a link, which may lead anywhere,
/// and in an unreadable directory.
std::filesystem::file_type TypeBelow(const std::filesystem::path& top, const std::string& path);

/// Files of a working tree, saved before a change so that they can be put back. `git apply` removes
/// all files of a patch first and writes them afterwards, so what fails or is killed in between
/// leaves neither the old nor the new ones.
class SavedFiles {
 public:
  /// Copies what is at the `paths` below `top`, and at the directories that they are in, to a
  /// directory in `scratch`, which then becomes `directory`: once that exists, it is complete and
  /// on disk. Keeps `purpose` with it. Throws support::Error.
  static SavedFiles Save(const std::filesystem::path& top, const std::vector<std::string>& paths,
                         const std::string& purpose, const std::filesystem::path& scratch,
                         const std::filesystem::path& directory);

  /// The files that Save left in `directory`, if any.
  static std::optional<SavedFiles> Find(const std::filesystem::path& top,
                                        const std::filesystem::path& directory);

  [[nodiscard]] const std::string& purpose() const { return purpose_; }

  /// Puts everything back as it was saved: bytes, permissions, links, and absent files. Moves
  /// whatever is there instead to `displaced`, or removes it without one. Compares afterwards, and
  /// returns the paths that differ.
  [[nodiscard]] std::vector<std::string> PutBack(
      const std::optional<std::filesystem::path>& displaced = {}) const;

  /// Moves what was saved to `scratch`, which the caller deletes.
  void Discard(const std::filesystem::path& scratch) const;

 private:
  struct Entry {
    std::string path;
    std::filesystem::file_type type = std::filesystem::file_type::not_found;
    std::filesystem::perms permissions = {};
    std::string target = {};  ///< of a link
  };

  SavedFiles(std::filesystem::path top, std::filesystem::path directory)
      : top_(std::move(top)), directory_(std::move(directory)) {}
  [[nodiscard]] Entry Read(const std::string& path) const;
  [[nodiscard]] bool IsAsSaved(const Entry& entry) const;

  std::filesystem::path top_;
  std::filesystem::path directory_;
  std::string purpose_;
  std::vector<Entry> entries_;  ///< a directory before what is in it
};

}  // namespace copy
