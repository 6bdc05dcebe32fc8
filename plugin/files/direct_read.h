#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "guest/guest.h"
#include "support/context.h"

/// Reading past the guest's page cache, where that may be older than the file on the host.
namespace files {

/// Bytes that are fetched at a time, and kept until others are asked for.
inline constexpr std::size_t kDirectReadWindow = std::size_t{8} << 20;

/// A file as the host has it now, read by `dd` in the guest: one command (a round trip and a
/// channel) for each kDirectReadWindow. Linux needs two things for that, tried on 6.1:
/// O_DIRECT, so that the content and what has been added are the host's; and the file's pages
/// dropped from the cache before (`nocache`), because a read that comes to the host's end before
/// the size that the guest remembers is completed from the cache. Once that is empty, NUL bytes
/// come instead, up to that size: those at the end are left out here, see left_out(). In a
/// file that has become shorter by more than its last window holds, those before that stay.
///
/// Each window is of what has the path itself, no link, when it is opened, and all are of one file.
///
/// One thread at a time, as guest::OpenFile.
class DirectFile {
 public:
  /// `remembered_size` is the size that the guest tells. Null where the guest cannot: no dd, or one
  /// without these flags, or a file system that refuses. Throws what guest::Guest::Run throws.
  static std::unique_ptr<DirectFile> Open(const std::string& path, std::uint64_t remembered_size,
                                          guest::Guest& guest, const support::Context& context);

  /// NUL bytes at the end that were left out so far: the file has become shorter on the host, or
  /// really ends with them.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

  /// As guest::OpenFile::Read. Throws support::CallError when the rest can no longer be read, or
  /// is another file's.
  std::string Read(std::uint64_t offset, std::size_t length, const support::Context& context);

 private:
  DirectFile(std::string path, std::uint64_t remembered_size, guest::Guest& guest);
  std::string_view Part(std::uint64_t position, const support::Context& context);
  void Keep(std::string window, std::uint64_t begin);

  std::string path_;
  std::uint64_t remembered_size_;
  std::string identity_;  ///< of the file that the first window came from
  std::uint64_t window_begin_ = 0;
  std::string window_;
  bool at_end_ = false;  // the window is the last one
  std::uint64_t left_out_ = 0;
  guest::Guest& guest_;
};

}  // namespace files
