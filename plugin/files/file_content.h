#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "files/direct_read.h"
#include "guest/guest.h"
#include "paths/path_rules.h"
#include "support/context.h"

/// Reading regular files of the guest.
namespace files {

/// Most that is read into memory at once.
inline constexpr std::uint64_t kMaximumReadBytes = std::uint64_t{32} << 20;

/// How much is asked for at a time where only a part of a file is wanted.
inline constexpr std::size_t kReadChunk = std::size_t{256} << 10;

struct OpenedFile {
  /// Null where `first_bytes` is the whole file, and where it is read directly.
  std::unique_ptr<guest::OpenFile> file;
  guest::FileAttributes attributes;  ///< of what was really opened
  /// By what it is read instead, past the guest's cache; its size is 0 then, not being known.
  std::unique_ptr<DirectFile> direct = {};
  /// What was read along with opening it: the first bytes, of which so many were asked for.
  std::string first_bytes = {};
  std::size_t first_wanted = 0;
};

/// Opens a regular file and compares what was opened with what the path rules saw, as far as SFTP
/// can say: type and owner must be the same; where size, time or permissions differ, and always for
/// writing, the guest must still resolve the path to itself; what is opened for writing must be as
/// the path rules saw it, or as the path is then. Throws support::CallError when the
/// file was swapped in between, or is no regular file, and guest::FileError. Two round trips, and
/// one more for writing or a file that has changed; for reading, the second brings a file of less
/// than kReadChunk along, and closes it. SFTP has no inode: whoever swaps a directory above the
/// file for a link, and back again, can stay unseen, but had to be a user of the guest who can
/// reach the link's target anyway.
///
/// Reading where the guest's cache may be old (ResolvedPath::stale_note) goes past it where the
/// guest can do that: one command more, during which no file is open; where the guest cannot, the
/// file is opened once more.
OpenedFile OpenRegularFile(const paths::ResolvedPath& path, guest::OpenMode mode,
                           guest::Guest& guest, const support::Context& context);

/// The whole file: one round trip for a file that does not grow, none for one that was brought
/// along with opening it. Throws support::CallError, with the size where it is known and how to
/// read parts, above kMaximumReadBytes.
std::string ReadWhole(OpenedFile& opened, const std::string& shown,
                      const support::Context& context);

/// What to tell of what was read: that it may be old, where it could not be read past the guest's
/// cache, or that its end may be missing. Empty when there is nothing to tell. Ask after reading.
std::string StaleNote(const OpenedFile& opened, const paths::ResolvedPath& path);

/// Lines end with LF; a last one may lack it.
struct LineRange {
  std::uint64_t first = 0;             ///< counted from 0
  std::optional<std::uint64_t> count;  ///< empty: all that follow
};

/// The lines of a range, with their ends as they are; reads the file up to there and no further: a
/// round trip for each kReadChunk, none for a smaller file. Throws support::CallError when the file
/// has no such line (an empty file has an empty line 0), or the range holds more than
/// kMaximumReadBytes.
std::string ReadLines(const OpenedFile& opened, const LineRange& range, const std::string& shown,
                      const support::Context& context);

/// Whether the whole file is valid UTF-8, read chunk by chunk up to the first bad byte.
bool IsUtf8File(const OpenedFile& opened, const support::Context& context);

/// "PATH has N bytes …, more than … at once; …": what to do with a file that is too large. No
/// `size`: nobody knows it.
std::string TooLargeText(const std::string& shown, std::optional<std::uint64_t> size);

}  // namespace files
