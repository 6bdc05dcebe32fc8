// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "copy/side_repository.h"

namespace copy {

/// The files of a project on a mount, without those that its rules ignore, as they were when a
/// session began. They are in a repository in the instance's directory, where the guest cannot
/// write, with an index, so that only files that differ are read again. What the guest may have
/// configured in the project runs nothing, hides nothing and converts nothing. Each function throws
/// support::Error.
class MountedTree {
 public:
  /// Waits for another one.
  MountedTree(const std::filesystem::path& instance_directory, const std::string& top);

  /// Keeps the files as they are now.
  void Keep();

  /// Prints what differs from what was kept, as PrintDiff does. Names what it leaves out, such as
  /// files with more than `max_size` bytes.
  void PrintDiff(bool only_names, std::uint64_t max_size);

 private:
  /// `left_out`: files that are as they were before, by the reason.
  std::string WriteTree(std::uint64_t max_size,
                        std::map<std::string, std::vector<std::string>>& left_out) const;

  const std::string top_;
  const std::filesystem::path directory_;
  const FileLock lock_;
  const Git git_;
};

}  // namespace copy
