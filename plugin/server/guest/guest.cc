// SPDX-License-Identifier: Apache-2.0
#include "guest/guest.h"

#include <array>

#include "shell/shells.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/paths.h"

namespace guest {
namespace {

/// By FileErrorCode.
constexpr std::array kReasons = {"no such file or directory", "permission denied",
                                 "operation not supported by the guest's SFTP server", "failure"};

constexpr std::string_view kInvalidInName("/\0", 2);

constexpr std::size_t kMaxEntries = 1'000'000;
constexpr std::size_t kMaxNameBytes = std::size_t{64} << 20;  ///< of all names

/// READDIR requests in one round trip; doubled each time. sshd sends 100 names per reply, so two
/// return a short directory and its end marker.
constexpr std::size_t kFirstAtOnce = 2;
constexpr std::size_t kMaxAtOnce = 16;

}  // namespace

FileError::FileError(FileErrorCode code, const std::string& operation, const std::string& path,
                     const std::string& detail)
    : Error("{} {}: {}{}", operation, path, kReasons.at(static_cast<std::size_t>(code)),
            detail.empty() ? "" : support::Format(" ({})", detail)),
      code_(code),
      detail_(detail) {}

FileType FileTypeOf(std::uint32_t mode) {
  using enum FileType;
  constexpr std::array kByType = {
      kUnknown, kFifo,    kCharacterDevice, kUnknown, kDirectory, kUnknown, kBlockDevice, kUnknown,
      kRegular, kUnknown, kSymlink,         kUnknown, kSocket,    kUnknown, kUnknown,     kUnknown};
  return kByType.at(mode >> 12U & 0xFU);
}

void CheckPath(const Request& request, Reply& reply) {
  const bool resolves = request.operation == Operation::kRealPath;
  if (reply.failure || (!resolves && request.operation != Operation::kReadLink)) return;
  const std::string& path = reply.As<std::string>();
  // Resolved paths are compared with roots as text.
  const bool is_clean = !resolves || (path.starts_with('/') && support::CleanPath(path) == path);
  const bool is_path =
      !path.empty() && path.size() <= kMaxPath && path.find('\0') == std::string::npos;
  if (is_clean && is_path) return;
  reply.failure.emplace(FileErrorCode::kFailure, resolves ? "resolve" : "read the link",
                        request.path, "the guest sent an invalid path");
}

std::unique_ptr<OpenFile> Guest::Open(const std::string& path, OpenMode mode,
                                      std::uint32_t permissions, const support::Context& context) {
  Reply reply = Execute(Request::Open(path, mode, permissions), context);
  return std::make_unique<OpenFile>(*this, std::move(reply.As<Handle>()));
}

void OpenFile::Write(std::uint64_t offset, std::string_view bytes,
                     const support::Context& context) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kMaxTransfer);
    guest_->Execute(Request::Write(handle_, offset, piece), context).RequireSuccess();
    offset += piece.size();
    bytes.remove_prefix(piece.size());
  }
}

std::vector<Reply> OpenFile::WriteAndClose(std::string_view bytes, const AttributeChange& change,
                                           const support::Context& context,
                                           const std::vector<Request>& more) {
  const std::size_t sent = bytes.empty() ? 0 : (bytes.size() - 1) / kMaxTransfer * kMaxTransfer;
  Write(0, bytes.substr(0, sent), context);
  std::vector<Request> requests;
  if (!bytes.empty()) requests.push_back(Request::Write(handle_, sent, bytes.substr(sent)));
  if (change.permissions || change.size) {
    requests.push_back(Request::SetAttributes(handle_, change));
  }
  requests.push_back(Request::Sync(handle_));
  requests.push_back(Request::Close(handle_));
  const std::size_t own = requests.size();
  requests.insert(requests.end(), more.begin(), more.end());
  Guest& guest = *std::exchange(guest_, nullptr);
  std::vector<Reply> replies = guest.RoundTrip(requests, context);
  Reply& sync = replies[own - 2];
  if (sync.Is(FileErrorCode::kUnsupported)) sync.failure.reset();
  for (std::size_t i = 0; i < own; ++i) replies[i].RequireSuccess();
  replies.erase(replies.begin(), replies.begin() + static_cast<std::ptrdiff_t>(own));
  return replies;
}

std::vector<DirectoryEntry> ReadNames(const OpenFile& directory, const support::Context& context) {
  const std::string& path = directory.handle().path;
  std::vector<DirectoryEntry> entries;
  std::size_t bytes = 0;
  bool any = false;
  std::size_t at_once = kFirstAtOnce;
  for (bool ended = false; !ended; at_once = std::min(2 * at_once, kMaxAtOnce)) {
    const std::vector<Request> requests(at_once, Request::ReadDirectory(directory.handle()));
    for (Reply& reply : directory.guest().RoundTrip(requests, context)) {
      auto& some = reply.As<std::vector<DirectoryEntry>>();
      ended = some.empty();
      if (ended) break;
      any = true;
      for (DirectoryEntry& entry : some) {
        if (entry.name == "." || entry.name == "..") continue;
        if (entry.name.empty() || entry.name.find_first_of(kInvalidInName) != std::string::npos) {
          throw FileError(FileErrorCode::kFailure, "list", path,
                          "the guest's SFTP server sent an invalid file name");
        }
        bytes += entry.name.size();
        entries.push_back(std::move(entry));
        if (entries.size() > kMaxEntries || bytes > kMaxNameBytes) {
          throw support::Error(
              "list {}: more than {} entries, or {} MiB of names; "
              "list it in parts with a command in the guest",
              path, kMaxEntries, kMaxNameBytes >> 20U);
        }
      }
    }
  }
  if (any) return entries;
  // OpenSSH's server omits names that it cannot stat. If the user may read a directory but not
  // enter it, that is all of them, even ".".
  const Reply reply = directory.guest().Execute(Request::LStat(path + "/."), context);
  if (reply.Is(FileErrorCode::kPermissionDenied)) {
    throw FileError(FileErrorCode::kPermissionDenied, "list", path, "");
  }
  return entries;
}

ScriptOutput CaptureScript(Guest& guest, const shell::Script& script,
                           const support::Context& context, const OutputLimits& limits) {
  ScriptOutput captured;
  shell::FunctionSink sink([&](shell::Stream stream, std::string_view bytes) {
    const bool is_output = stream == shell::Stream::kOutput;
    std::string& text = is_output ? captured.output : captured.error;
    captured.is_too_long = text.size() + bytes.size() > (is_output ? limits.output : limits.error);
    if (!captured.is_too_long) text += bytes;
    return !captured.is_too_long;
  });
  captured.exit_status = guest.shells().RunScript(script, sink, context).exit_status;
  return captured;
}

}  // namespace guest
