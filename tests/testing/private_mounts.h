// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace testing_support {

/// Gives this process and its later children mounts of their own. Needs root or a user namespace.
/// Returns the problem; empty: done. Before any thread is started.
std::string EnterPrivateMounts();

/// A small file system, after EnterPrivateMounts. Unmounted by the destructor.
class SmallFileSystem {
 public:
  /// Throws std::system_error.
  SmallFileSystem(std::filesystem::path directory, std::uint64_t bytes);
  ~SmallFileSystem();
  SmallFileSystem(const SmallFileSystem&) = delete;
  SmallFileSystem& operator=(const SmallFileSystem&) = delete;

 private:
  std::filesystem::path directory_;
};

/// Throws std::system_error: EBUSY while a file in it is open for writing.
void SetReadOnly(const std::filesystem::path& mount, bool read_only);

}  // namespace testing_support
