#include "files/file_content.h"

#include <string_view>
#include <utility>

#include "files/file_problem.h"
#include "support/errors.h"
#include "support/units.h"
#include "support/utf8.h"

namespace files {
namespace {

using support::CallError;

constexpr std::size_t kLongestSequence = 4;  // of UTF-8 (RFC 3629)

/// Cuts the wanted lines out of a file that comes in pieces.
class LineCutter {
 public:
  explicit LineCutter(const LineRange& range) : range_(range) {}

  /// False if no more is wanted.
  bool Add(std::string_view piece) {
    while (!piece.empty() && !done()) {
      const bool wanted = line_ >= range_.first;
      if (wanted && !range_.count) {
        found_ = true;
        text_ += piece;
        return true;
      }
      const std::size_t end = piece.find('\n');
      const std::string_view part =
          end == std::string_view::npos ? piece : piece.substr(0, end + 1);
      if (wanted) {
        found_ = true;
        text_ += part;
      }
      unfinished_line_ = end == std::string_view::npos;
      if (!unfinished_line_) ++line_;
      piece.remove_prefix(part.size());
    }
    return !done();
  }

  [[nodiscard]] bool found() const { return found_; }
  [[nodiscard]] std::uint64_t lines_seen() const { return line_ + (unfinished_line_ ? 1 : 0); }
  std::string& text() { return text_; }

 private:
  [[nodiscard]] bool done() const {
    return range_.count && line_ >= range_.first && line_ - range_.first >= *range_.count;
  }

  LineRange range_;
  std::uint64_t line_ = 0;
  bool unfinished_line_ = false;
  bool found_ = false;
  std::string text_;
};

/// Throws unless the opened file can be the one that the path rules saw; OpenRegularFile states the
/// rule. Reading is more lenient: the file may be growing.
void RequireSameFile(const guest::FileAttributes& opened, const paths::ResolvedPath& path,
                     guest::OpenMode mode, guest::Guest& guest, const support::Context& context) {
  if (mode == guest::OpenMode::kRead && opened == *path.attributes) return;
  const bool is_possible = opened.type == guest::FileType::kRegular &&
                           opened.user_id == path.attributes->user_id &&
                           opened.group_id == path.attributes->group_id;
  const guest::RealFile now =
      is_possible ? guest.FindRealFile(path.guest, context) : guest::RealFile();
  if (!is_possible || now.path != path.guest) {
    throw CallError(path.host + " was replaced by another file while it was being opened");
  }
  if (mode == guest::OpenMode::kRead || opened == now.attributes || opened == *path.attributes) {
    return;
  }
  throw CallError(path.host +
                  " was replaced by another file, or written to, while it was being opened. "
                  "Nothing was written: try again");
}

std::string ReadBytes(const OpenedFile& opened, std::uint64_t offset, std::size_t length,
                      const support::Context& context) {
  return opened.direct ? opened.direct->Read(offset, length, context)
                       : opened.file->Read(offset, length, context);
}

struct Piece {
  std::string bytes;
  bool at_end = false;
};

Piece ReadPiece(const OpenedFile& opened, std::uint64_t position, const support::Context& context) {
  if (position == 0 && opened.first_wanted > 0) {
    return {opened.first_bytes, opened.first_bytes.size() < opened.first_wanted};
  }
  Piece piece{ReadBytes(opened, position, kReadChunk, context), false};
  piece.at_end = piece.bytes.size() < kReadChunk;
  return piece;
}

/// Reads a small file and closes it, in one round trip. Returns nothing if the file has grown or
/// cannot be read.
std::optional<OpenedFile> TakeSmallFile(guest::OpenFile& file, const paths::ResolvedPath& path,
                                        guest::Guest& guest, const support::Context& context) {
  const std::size_t wanted = static_cast<std::size_t>(path.attributes->size) + 1;
  guest::FileBeginning beginning;
  try {
    beginning = file.ReadAndClose(wanted, context);
  } catch (const guest::FileError&) {
    return std::nullopt;  // opening it again reports what it is
  }
  RequireSameFile(beginning.attributes, path, guest::OpenMode::kRead, guest, context);
  const std::size_t length = beginning.bytes.size();
  if (length >= wanted || length < beginning.attributes.size) return std::nullopt;
  OpenedFile opened;
  opened.attributes = beginning.attributes;
  opened.first_bytes = std::move(beginning.bytes);
  opened.first_wanted = wanted;
  return opened;
}

OpenedFile OpenOverSftp(const paths::ResolvedPath& path, guest::OpenMode mode, guest::Guest& guest,
                        const support::Context& context) {
  OpenedFile opened;
  opened.file = guest.Open(path.guest, mode, 0, context);
  const bool is_small = mode == guest::OpenMode::kRead && path.stale_note.empty() &&
                        path.attributes->size < kReadChunk;
  if (is_small) {
    if (auto whole = TakeSmallFile(*opened.file, path, guest, context)) return *std::move(whole);
    opened.file = guest.Open(path.guest, mode, 0, context);
  }
  opened.attributes = opened.file->Stat(context);
  RequireSameFile(opened.attributes, path, mode, guest, context);
  return opened;
}

}  // namespace

std::string TooLargeText(const std::string& shown, std::optional<std::uint64_t> size) {
  return shown + " has " + (size ? support::FormatByteCount(*size) + ", " : "") + "more than the " +
         support::FormatByteCount(kMaximumReadBytes) +
         " that are read at once; read it in parts with offset (first line, from 0) and limit "
         "(number of lines)";
}

OpenedFile OpenRegularFile(const paths::ResolvedPath& path, guest::OpenMode mode,
                           guest::Guest& guest, const support::Context& context) {
  RequireRegularFile(path);  // opening a FIFO would block the guest's server
  OpenedFile opened = OpenOverSftp(path, mode, guest, context);
  if (mode != guest::OpenMode::kRead || path.stale_note.empty()) return opened;
  opened.direct = DirectFile::Open(path.guest, opened.attributes.size, guest, context);
  if (opened.direct) {
    opened.file.reset();
    opened.attributes.size = 0;
  }
  return opened;
}

std::string StaleNote(const OpenedFile& opened, const paths::ResolvedPath& path) {
  return opened.direct ? "" : path.stale_note;
}

std::string ReadWhole(OpenedFile& opened, const std::string& shown,
                      const support::Context& context) {
  if (opened.attributes.size > kMaximumReadBytes) {
    throw CallError(TooLargeText(shown, opened.attributes.size));
  }
  std::string content = std::move(opened.first_bytes);
  std::size_t wanted = std::exchange(opened.first_wanted, 0);
  if (wanted == 0) {
    // One byte more than the size: a shorter answer proves that the file ends there.
    wanted = static_cast<std::size_t>(opened.attributes.size) + 1;
    content = ReadBytes(opened, 0, wanted, context);
  }
  while (content.size() >= wanted) {  // the file grows, or its size is unknown
    if (content.size() > kMaximumReadBytes) throw CallError(TooLargeText(shown, std::nullopt));
    const std::string more = ReadBytes(opened, content.size(), kReadChunk, context);
    wanted = content.size() + kReadChunk;
    content += more;
  }
  return content;
}

std::string ReadLines(const OpenedFile& opened, const LineRange& range, const std::string& shown,
                      const support::Context& context) {
  LineCutter cutter(range);
  std::uint64_t position = 0;
  bool at_end = false;
  while (!at_end) {
    const Piece piece = ReadPiece(opened, position, context);
    position += piece.bytes.size();
    at_end = piece.at_end;
    if (!cutter.Add(piece.bytes)) break;
    if (cutter.text().size() > kMaximumReadBytes) {
      throw CallError("these lines of " + shown + " have more than " +
                      support::FormatByteCount(kMaximumReadBytes) +
                      "; ask for fewer with limit, or cut long lines with run_shell_command");
    }
  }
  if (!cutter.found() && range.first > 0) {
    throw CallError(shown + " has " + std::to_string(cutter.lines_seen()) +
                    (cutter.lines_seen() == 1 ? " line" : " lines") + ": offset " +
                    std::to_string(range.first) + " (counted from 0) is behind its end");
  }
  return std::move(cutter.text());
}

bool IsUtf8File(const OpenedFile& opened, const support::Context& context) {
  std::string pending;  // perhaps the beginning of a sequence
  std::uint64_t position = 0;
  while (true) {
    const Piece piece = ReadPiece(opened, position, context);
    position += piece.bytes.size();
    pending += piece.bytes;
    pending.erase(0, support::ValidUtf8Prefix(pending));
    if (pending.size() >= kLongestSequence) return false;
    if (piece.at_end) return pending.empty();
  }
}

std::vector<guest::DirectoryEntry> NamesIn(const paths::ResolvedPath& directory,
                                           guest::Guest& guest, const support::Context& context) {
  if (directory.directory) return guest::ReadNames(*directory.directory, context);
  // Resolved again: a link may have taken its place.
  std::vector<guest::Reply> replies = guest.AskAll(
      {guest::ask::RealPath{directory.guest}, guest::ask::OpenDirectory{directory.guest}}, context);
  std::optional<guest::OpenHandle> opened;
  if (!replies[1].failure) opened.emplace(guest, replies[1].As<guest::Handle>());
  if (replies[0].As<std::string>() != directory.guest) {
    throw CallError(directory.host + " was replaced while it was being opened; try again");
  }
  replies[1].RequireSuccess();
  return guest::ReadNames(*opened, context);
}

}  // namespace files
