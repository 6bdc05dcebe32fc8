// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guest/guest.h"
#include "paths/path_rules.h"
#include "support/context.h"

/// Reading regular files and directories of the guest.
namespace files {

/// The largest file that is read into memory.
inline constexpr std::uint64_t kMaxReadBytes = std::uint64_t{32} << 20;

/// The first read of a part of a file: the most that OpenSSH's server returns for one request
/// (limits@openssh.com). Each further read is twice as long, up to kMaxRead.
inline constexpr std::size_t kReadChunk = std::size_t{255} << 10;
inline constexpr std::size_t kMaxRead = 16 * kReadChunk;
static_assert(kMaxRead <= guest::kMaxTransfer);

/// Receives the next bytes of a file; returns false to stop.
using TakeBytes = std::function<bool(std::string_view bytes)>;

/// Lines end with LF; the last one may lack it.
struct LineRange {
  std::uint64_t first = 0;             ///< counted from 0
  std::optional<std::uint64_t> count;  ///< empty for all that follow
};

/// A regular file that is open for reading. One thread. The arguments must outlive it.
class FileReader {
 public:
  /// Opens the file and checks, as far as SFTP allows, that it is the one that the path rules
  /// checked: type and owner must be the same, and the guest must still resolve the path to itself.
  /// SFTP reports no inode, so a parent directory that is briefly replaced by a link can go
  /// unnoticed. A process that can do that can read the link's target anyway.
  ///
  /// Throws support::Error if the file was replaced or is not regular, and guest::FileError.
  ///
  /// Takes two round trips. The second one also reads a file below kReadChunk. A larger file takes
  /// one more for each read.
  FileReader(const paths::ResolvedPath& path, guest::Guest& guest, const support::Context& context);

  // Each reads from the beginning.

  /// Throws support::Error above kMaxReadBytes.
  std::string ReadWhole();

  struct Lines {
    std::string bytes;           ///< with line ends
    std::uint64_t position = 0;  ///< in the file
    bool is_whole = true;
  };
  /// The whole range, or a beginning of more than `maximum_bytes`. Throws support::Error if the
  /// file has no such line (an empty file has an empty line 0).
  Lines ReadLines(const LineRange& range, std::size_t maximum_bytes);

  /// Whether the file is valid UTF-8, of any size. Stops reading at the first byte that is not.
  bool IsUtf8();

  /// The opened file's.
  [[nodiscard]] const guest::FileAttributes& attributes() const { return attributes_; }

 private:
  void Read(std::uint64_t first, const TakeBytes& take);

  const paths::ResolvedPath& path_;
  const support::Context& context_;
  guest::FileAttributes attributes_;
  std::unique_ptr<guest::OpenFile> file_;
  std::optional<std::string> whole_;  ///< a small file
};

/// Opens a regular file for writing, with the checks of FileReader. The file's attributes must be
/// those that the path rules saw, or those that the path has now.
std::unique_ptr<guest::OpenFile> OpenForWriting(const paths::ResolvedPath& path,
                                                guest::Guest& guest,
                                                const support::Context& context);

/// The names in a directory that PathRules::Resolve returned for Access::kList. Takes one round
/// trip for a hundred names, and one more if the directory is not open yet. Throws
/// guest::FileError, and support::Error if the directory was replaced.
std::vector<guest::DirectoryEntry> NamesIn(const paths::ResolvedPath& directory,
                                           guest::Guest& guest, const support::Context& context);

}  // namespace files
