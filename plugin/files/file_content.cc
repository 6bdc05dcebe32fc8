#include "files/file_content.h"

#include <string_view>
#include <utility>

#include "files/file_call.h"
#include "support/errors.h"
#include "support/units.h"
#include "support/utf8.h"

namespace files {
namespace {

using support::CallError;

// Longest UTF-8 sequence (RFC 3629).
constexpr std::size_t kLongestSequence = 4;

/// Takes the wanted lines out of a file that comes in pieces.
class LineCutter {
 public:
  explicit LineCutter(const LineRange& range) : range_(range) {}

  /// False when no more is wanted.
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

/// Throws unless what was opened can be what the path rules saw. Where anything else differs,
/// somebody has written to the file meanwhile, or the path has become a link. One to a file with
/// the same attributes shows nothing: before something is written the guest is asked in any case.
/// A link that has gone by then shows in the attributes: what was opened must have those that the
/// path has now, or had before. That is too much for a file that is only read, and may be growing.
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

/// Reads a small file and closes it, in one round trip. Nothing where there is more than was
/// expected, or it cannot be read.
std::optional<OpenedFile> TakeSmallFile(guest::OpenFile& file, const paths::ResolvedPath& path,
                                        guest::Guest& guest, const support::Context& context) {
  const std::size_t wanted = static_cast<std::size_t>(path.attributes->size) + 1;
  guest::FileBeginning beginning;
  try {
    beginning = file.ReadAndClose(wanted, context);
  } catch (const guest::FileError&) {
    return std::nullopt;  // what it is says more than why it cannot be read
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
  RequireRegularFile(path);  // before opening: a FIFO would block the guest's server
  OpenedFile opened = OpenOverSftp(path, mode, guest, context);
  if (mode != guest::OpenMode::kRead || path.stale_note.empty()) return opened;
  // Closed first: where the guest's sshd allows a single channel, a command waits for that.
  opened.file.reset();
  opened.direct = DirectFile::Open(path.guest, opened.attributes.size, guest, context);
  if (!opened.direct) return OpenOverSftp(path, mode, guest, context);
  opened.attributes.size = 0;
  return opened;
}

std::string StaleNote(const OpenedFile& opened, const paths::ResolvedPath& path) {
  if (!opened.direct) return path.stale_note;
  if (opened.direct->left_out() == 0) return "";
  return "Left out at the end: " + std::to_string(opened.direct->left_out()) +
         " NUL bytes, which the guest shows where a file has become shorter on the host. If the "
         "file really ends with them, they are there.";
}

std::string ReadWhole(OpenedFile& opened, const std::string& shown,
                      const support::Context& context) {
  if (opened.attributes.size > kMaximumReadBytes) {
    throw CallError(TooLargeText(shown, opened.attributes.size));
  }
  std::string content = std::move(opened.first_bytes);
  std::size_t wanted = std::exchange(opened.first_wanted, 0);
  if (wanted == 0) {
    // One byte more than there is: a shorter answer says that the file ends there.
    wanted = static_cast<std::size_t>(opened.attributes.size) + 1;
    content = ReadBytes(opened, 0, wanted, context);
  }
  while (content.size() >= wanted) {  // it grows, or is one of those that do not tell their size
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
      throw CallError("these lines of " + shown + " hold more than " +
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
  std::string pending;  // what may be the beginning of a sequence
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

}  // namespace files
