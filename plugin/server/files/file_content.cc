// SPDX-License-Identifier: Apache-2.0
#include "files/file_content.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "files/file_problem.h"
#include "support/errors.h"
#include "support/units.h"
#include "support/utf8.h"

namespace files {
namespace {

using guest::OpenMode;
using support::Error;

/// Opens what the path rules checked. A link may have taken its place since: the path is resolved
/// right before and right after, so that it would have to change twice within one burst.
std::unique_ptr<guest::OpenFile> Open(const paths::ResolvedPath& path, OpenMode mode,
                                      guest::Guest& guest, const support::Context& context) {
  RequireRegularFile(path, guest, context);  // opening a FIFO would block the guest's server
  const auto resolve = guest::Request::RealPath(path.guest);
  std::vector<guest::Reply> replies =
      guest.RoundTrip({resolve, guest::Request::Open(path.guest, mode), resolve}, context);
  auto file = std::make_unique<guest::OpenFile>(guest, replies[1].As<guest::Handle>());
  const auto is_unchanged = [&](guest::Reply& reply) {
    return reply.As<std::string>() == path.guest;
  };
  if (is_unchanged(replies[0]) && is_unchanged(replies[2])) return file;
  throw Error("{} was replaced by another file while it was being opened", path.host);
}

/// Throws unless the opened file may be the one that the path rules checked; see FileReader.
void RequireSameFile(const guest::FileAttributes& opened, const paths::ResolvedPath& path,
                     OpenMode mode, guest::Guest& guest, const support::Context& context) {
  if (opened == *path.attributes) return;
  if (opened.type != guest::FileType::kRegular || opened.user_id != path.attributes->user_id ||
      opened.group_id != path.attributes->group_id)
    throw Error("{} was replaced by another file while it was being opened", path.host);
  if (mode == OpenMode::kRead) return;
  guest::Reply now = guest.Execute(guest::Request::LStat(path.guest), context);
  if (!now.failure && opened == now.As<guest::FileAttributes>()) return;
  throw Error(
      "{} was replaced by another file, or written to, while it was being opened. "
      "Nothing was written: try again",
      path.host);
}

[[noreturn]] void ThrowTooLarge(const paths::ResolvedPath& path,
                                std::optional<std::uint64_t> size = std::nullopt) {
  throw Error(
      "{} has {}more than the limit of {}; "
      "read it in parts with offset (first line, from 0) and limit (number of lines)",
      path.host, size ? support::FormatByteCount(*size) + ", " : "",
      support::FormatByteCount(kMaxReadBytes));
}

}  // namespace

FileReader::FileReader(const paths::ResolvedPath& path, guest::Guest& guest,
                       const support::Context& context)
    : path_(path), context_(context) {
  file_ = Open(path, OpenMode::kRead, guest, context);
  const auto wanted = static_cast<std::size_t>(path.attributes->size) + 1;
  const bool is_small = path.attributes->size < kReadChunk;
  std::vector<guest::Request> requests{guest::Request::StatOpen(file_->handle())};
  if (is_small) requests.push_back(guest::Request::Read(file_->handle(), 0, wanted));
  std::vector<guest::Reply> replies = guest.RoundTrip(requests, context);
  attributes_ = replies[0].As<guest::FileAttributes>();
  RequireSameFile(attributes_, path, OpenMode::kRead, guest, context);
  if (!is_small) return;
  auto& bytes = replies[1].As<std::string>();
  if (bytes.size() < wanted && bytes.size() >= attributes_.size) {
    whole_ = std::move(bytes);
  } else {  // it has grown, or its size is wrong
    guest::Reply status = guest.Execute(guest::Request::StatOpen(file_->handle()), context);
    attributes_ = status.As<guest::FileAttributes>();
  }
}

/// `first` is the length of the first read.
void FileReader::Read(std::uint64_t first, const TakeBytes& take) {
  if (whole_) {
    take(*whole_);
    return;
  }
  std::uint64_t next = first;
  for (std::uint64_t position = 0;;) {
    next = std::min<std::uint64_t>(next, kMaxRead);
    // One byte beyond the size: if that one is missing, the file ends there. If the size is wrong,
    // only an empty reply is the end: the kernel's own files come in short pieces.
    if (position <= attributes_.size) next = std::min(next - 1, attributes_.size - position) + 1;
    const std::string bytes = file_->ReadSome(position, static_cast<std::size_t>(next), context_);
    position += bytes.size();
    const bool is_end = bytes.empty() || (bytes.size() < next && position == attributes_.size);
    if (!take(bytes) || is_end) return;
    next = std::max(2 * bytes.size(), kReadChunk);
  }
}

std::string FileReader::ReadWhole() {
  if (attributes_.size > kMaxReadBytes) ThrowTooLarge(path_, attributes_.size);
  Lines content = ReadLines({}, kMaxReadBytes);
  if (!content.is_whole) ThrowTooLarge(path_);
  return std::move(content.bytes);
}

bool FileReader::IsUtf8() {
  constexpr std::size_t kMaxCharacter = 4;
  std::string rest;  // after the last whole character
  Read(kReadChunk, [&](std::string_view bytes) {
    rest += bytes;
    rest.erase(0, support::ValidUtf8Prefix(rest));
    return rest.size() < kMaxCharacter;
  });
  return rest.empty();
}

FileReader::Lines FileReader::ReadLines(const LineRange& range, std::size_t maximum_bytes) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() - range.first;
  const std::uint64_t end = range.first + std::min(range.count.value_or(most), most);
  Lines lines;
  std::uint64_t line = 0;  // of the next byte
  bool is_in_line = false;
  Read(range.first == 0 && !range.count ? maximum_bytes + 1 : kReadChunk,
       [&](std::string_view bytes) {
         while (!bytes.empty() && line < end) {
           const bool takes_all = line >= range.first && !range.count;
           const std::size_t length =
               takes_all ? bytes.size() : std::min(bytes.find('\n'), bytes.size() - 1) + 1;
           is_in_line = bytes[length - 1] != '\n';
           if (line >= range.first) {
             lines.bytes += bytes.substr(0, length);
           } else {
             lines.position += length;
           }
           if (!is_in_line) ++line;
           bytes.remove_prefix(length);
         }
         lines.is_whole = lines.bytes.size() <= maximum_bytes;
         return line < end && lines.is_whole;
       });
  if (lines.bytes.empty() && range.first > 0) {
    throw Error("{} has {}: offset {} (counted from 0) is past its end", path_.host,
                support::Count(line + (is_in_line ? 1 : 0), "line"), range.first);
  }
  return lines;
}

std::unique_ptr<guest::OpenFile> OpenForWriting(const paths::ResolvedPath& path,
                                                guest::Guest& guest,
                                                const support::Context& context) {
  auto file = Open(path, OpenMode::kWrite, guest, context);
  guest::Reply status = guest.Execute(guest::Request::StatOpen(file->handle()), context);
  RequireSameFile(status.As<guest::FileAttributes>(), path, OpenMode::kWrite, guest, context);
  return file;
}

std::vector<guest::DirectoryEntry> NamesIn(const paths::ResolvedPath& directory,
                                           guest::Guest& guest, const support::Context& context) {
  if (directory.directory) return guest::ReadNames(*directory.directory, context);
  // Resolved again, because a link may have replaced the directory.
  std::vector<guest::Reply> replies = guest.RoundTrip(
      {guest::Request::RealPath(directory.guest), guest::Request::OpenDirectory(directory.guest)},
      context);
  std::optional<guest::OpenFile> opened;
  if (!replies[1].failure) opened.emplace(guest, replies[1].As<guest::Handle>());
  if (replies[0].As<std::string>() != directory.guest)
    throw Error("{} was replaced while it was being opened; try again", directory.host);
  replies[1].RequireSuccess();
  return guest::ReadNames(*opened, context);
}

}  // namespace files
