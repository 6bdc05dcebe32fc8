#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "guest/guest.h"
#include "support/context.h"

/// Reading past the guest's page cache, which may be older than the file on the host.
namespace files {

/// Bytes that are read at a time and kept until others are needed.
inline constexpr std::size_t kDirectReadWindow = std::size_t{8} << 20;

/// A file as the host has it now, read by `dd` in the guest: one command for each
/// kDirectReadWindow. Tried on Linux 6.1, this needs both O_DIRECT (`iflag=direct`) and the file's
/// cached pages dropped before (`nocache`): a read that ends on the host before the size that the
/// guest remembers is completed from the cache. A file that became shorter on the host ends with
/// NUL bytes instead.
///
/// Each window is read from the path itself, not through a link, and all are from one file.
///
/// Not thread-safe, like guest::OpenFile.
class DirectFile {
 public:
  /// `remembered_size` is the size that the guest reports. Null if the guest cannot: dd or its
  /// flags are missing, or the file system refuses. Throws what guest::Guest::RunScript throws.
  static std::unique_ptr<DirectFile> Open(const std::string& path, std::uint64_t remembered_size,
                                          guest::Guest& guest, const support::Context& context);

  /// As guest::OpenFile::Read. Throws support::CallError if the rest cannot be read any more, or
  /// belongs to another file.
  std::string Read(std::uint64_t offset, std::size_t length, const support::Context& context);

 private:
  DirectFile(std::string path, std::uint64_t remembered_size, guest::Guest& guest)
      : path_(std::move(path)), remembered_size_(remembered_size), guest_(guest) {}
  std::string_view Part(std::uint64_t position, const support::Context& context);

  std::string path_;
  std::uint64_t remembered_size_;
  std::string identity_;  ///< of the file that the first window came from
  std::uint64_t window_begin_ = 0;
  std::string window_;
  guest::Guest& guest_;
};

}  // namespace files
