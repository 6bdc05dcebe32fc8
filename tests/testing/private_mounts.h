#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace testing_support {

/// Gives this process mounts of its own, which its later children share and nobody else sees: they
/// go when the last of these processes ends. As root, and as an ordinary user where the kernel lets
/// one have a user namespace. Returns why it cannot be done; empty: done. Before any thread is
/// started.
std::string EnterPrivateMounts();

/// A file system of a few bytes, after EnterPrivateMounts; unmounted by the destructor.
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

/// Throws std::system_error, EBUSY for one: while a file in it is open for writing.
void SetReadOnly(const std::filesystem::path& mount, bool read_only);

/// Writes a file until there is no room left.
void FillUp(const std::filesystem::path& file);

}  // namespace testing_support
