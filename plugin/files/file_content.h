#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/direct_read.h"
#include "guest/guest.h"
#include "paths/path_rules.h"
#include "support/context.h"

/// Reading regular files and directories of the guest.
namespace files {

/// The largest file that is read into memory.
inline constexpr std::uint64_t kMaximumReadBytes = std::uint64_t{32} << 20;

/// Bytes that are read at a time if only a part of a file is wanted.
inline constexpr std::size_t kReadChunk = std::size_t{256} << 10;

struct OpenedFile {
  /// Null if `first_bytes` is the whole file, or `direct` is set.
  std::unique_ptr<guest::OpenFile> file;
  guest::FileAttributes attributes;  ///< of the file that was opened
  /// Reads past the guest's cache. The size in `attributes` is 0 then, as it is unknown.
  std::unique_ptr<DirectFile> direct = {};
  /// The first bytes, read along with opening the file, of `first_wanted` that were asked for.
  std::string first_bytes = {};
  std::size_t first_wanted = 0;
};

/// Opens a regular file and checks, as far as SFTP can tell, that it is the one that the path rules
/// saw. Type and owner must be the same. For writing, and if size, time or permissions differ, the
/// guest must still resolve the path to itself; for writing the file must also be as the path rules
/// saw it, or as the path is then. SFTP reports no inode: a directory above that is swapped for a
/// link and back can stay unseen, but its swapper had to be able to read the link's target anyway.
///
/// Throws support::CallError if the file was replaced or is not regular, and guest::FileError.
///
/// Round trips: two, and one more for writing or a file that has changed. For reading, the second
/// one brings a file below kReadChunk along. If reads may be stale (ResolvedPath::stale_note), one
/// command more reads past the cache if the guest can.
OpenedFile OpenRegularFile(const paths::ResolvedPath& path, guest::OpenMode mode,
                           guest::Guest& guest, const support::Context& context);

/// The whole file. One round trip for a file that does not grow, none if it was brought along.
/// Throws support::CallError above kMaximumReadBytes.
std::string ReadWhole(OpenedFile& opened, const std::string& shown,
                      const support::Context& context);

/// Says that what was read may be old; empty if it was read past the guest's cache or needs not be.
std::string StaleNote(const OpenedFile& opened, const paths::ResolvedPath& path);

/// Lines end with LF; the last one may lack it.
struct LineRange {
  std::uint64_t first = 0;             ///< counted from 0
  std::optional<std::uint64_t> count;  ///< empty: all that follow
};

/// The lines of a range, with their line ends. Reads the file up to there: a round trip for each
/// kReadChunk, none for a smaller file. Throws support::CallError if the file has no such line (an
/// empty file has an empty line 0), or the range is above kMaximumReadBytes.
std::string ReadLines(const OpenedFile& opened, const LineRange& range, const std::string& shown,
                      const support::Context& context);

/// Whether the whole file is valid UTF-8. Reads chunk by chunk up to the first invalid byte.
bool IsUtf8File(const OpenedFile& opened, const support::Context& context);

/// The error for a file that is too large. No `size`: it is unknown.
std::string TooLargeText(const std::string& shown, std::optional<std::uint64_t> size);

/// The names in a directory that PathRules::Resolve returned for Access::kList: one round trip for
/// a hundred names, two if it is not open yet. Throws guest::FileError, and support::CallError if
/// the directory was replaced.
std::vector<guest::DirectoryEntry> NamesIn(const paths::ResolvedPath& directory,
                                           guest::Guest& guest, const support::Context& context);

}  // namespace files
