// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "shell/request.h"
#include "support/context.h"
#include "support/errors.h"
#include "support/file_descriptor.h"

namespace shell {
class Shells;
}

/// The one interface to the virtual machine. ssh/ implements it; tests have fakes.
///
/// Paths are absolute guest paths: any bytes but NUL. An invalid path from the guest is a FileError
/// (kFailure).
///
/// RoundTrip sends several file requests at once, in one round trip. File operations throw
/// `FileError` if the guest refuses, `support::ConnectionLost`, `support::Stopped` if the context
/// is stopped, and `support::Error` if the guest has no SFTP. Each call takes one round trip
/// unless its comment says otherwise.
namespace guest {

enum class FileErrorCode {
  kNotFound,          ///< no such file or directory
  kPermissionDenied,  ///< the guest user has no permission
  kUnsupported,       ///< the SFTP server does not offer the operation
  kFailure,           ///< anything else; SFTP version 3 has no more codes
};

/// A file operation failed in the guest; the connection is fine.
class FileError : public support::Error {
 public:
  /// `path` is the guest path; `detail` is the guest's message and may be empty.
  FileError(FileErrorCode code, const std::string& operation, const std::string& path,
            const std::string& detail);

  [[nodiscard]] FileErrorCode code() const { return code_; }

  [[nodiscard]] const std::string& detail() const { return detail_; }

 private:
  FileErrorCode code_;
  std::string detail_;
};

/// How Guest::Forward ends.
enum class ForwardEnd {
  kDone,
  kNothingListens,
  kForbidden,  ///< by the guest's sshd
  kLost,       ///< the connection to the guest
};

enum class FileType {
  kRegular,
  kDirectory,
  kSymlink,
  kFifo,
  kSocket,
  kCharacterDevice,
  kBlockDevice,
  kUnknown,
};

/// From st_mode, with the numbers that every Unix uses.
FileType FileTypeOf(std::uint32_t mode);

struct FileAttributes {
  FileType type = FileType::kUnknown;
  std::uint32_t permissions = 0;  ///< the lower twelve bits of st_mode (07777)
  std::uint64_t size = 0;         ///< bytes
  std::uint32_t user_id = 0;
  std::uint32_t group_id = 0;
  std::int64_t modified = 0;  ///< seconds since 1970-01-01 00:00:00 UTC

  friend bool operator==(const FileAttributes&, const FileAttributes&) = default;
};

/// One name in a directory; the attributes are those of the name itself (a link is a link).
struct DirectoryEntry {
  std::string name;
  FileAttributes attributes;
};

struct AttributeChange {
  std::optional<std::uint32_t> permissions;  ///< 07777
  std::optional<std::uint64_t> size;         ///< truncates or extends
};

struct FileSystemStatus {
  std::uint64_t free_bytes = 0;  ///< available to the guest user
  bool read_only = false;

  // The identity of the file system; each may be 0.
  std::uint64_t id = 0;          ///< f_fsid
  std::uint64_t block_size = 0;  ///< bytes
  std::uint64_t blocks = 0;      ///< in total
  std::uint64_t maximum_name = 0;

  std::uint64_t files = 0;       ///< inodes in total; 0 if it has no such limit
  std::uint64_t free_files = 0;  ///< available to the guest user
};

enum class OpenMode {
  kRead,             ///< an existing file, for reading
  kWrite,            ///< an existing file, for writing; not truncated
  kCreateExclusive,  ///< a new file, for writing; nothing may have that name
};

/// An open file or directory. Valid only for its guest, and only while its SFTP server runs.
struct Handle {
  std::string value;
  std::uint64_t channel = 0;  ///< number of the connection's SFTP server
  std::string path;           ///< for messages
  bool writes = false;        ///< opened for writing: closing it may change the guest

  friend bool operator==(const Handle&, const Handle&) = default;
};

/// What a request does. The comment is the type for Reply::As, if there is a value.
enum class Operation : std::uint8_t {
  kLStat,           // FileAttributes
  kRealPath,        // std::string
  kReadLink,        // std::string
  kStatFileSystem,  // FileSystemStatus
  kOpen,            // Handle
  kOpenDirectory,   // Handle
  kMakeDirectory,
  kRename,
  kUnlink,
  kStatOpen,  // FileAttributes
  kRead,      // std::string
  kWrite,
  kSetAttributes,
  kSync,
  kClose,
  kReadDirectory,  // std::vector<DirectoryEntry>
};

/// Bytes of one Request::Read or Request::Write. A cancelled call still transfers them.
inline constexpr std::size_t kMaxTransfer = std::size_t{4} << 20;

/// One request of RoundTrip. Its functions make requests with the members that they need.
struct Request {
  Operation operation = Operation::kLStat;
  std::string path = {};  ///< of a handle too, for messages
  std::string to = {};
  Handle handle = {};
  OpenMode mode = OpenMode::kRead;
  AttributeChange change = {};
  std::uint64_t offset = 0;
  std::size_t length = 0;
  std::string_view bytes = {};

  /// A link is not followed.
  static Request LStat(std::string path) { return {Operation::kLStat, std::move(path)}; }
  /// The absolute path without links, "." and "..". The last component may be missing; a missing
  /// parent is kNotFound (OpenSSH's server).
  static Request RealPath(std::string path) { return {Operation::kRealPath, std::move(path)}; }
  /// As written in the link.
  static Request ReadLink(std::string path) { return {Operation::kReadLink, std::move(path)}; }
  /// kUnsupported without statvfs@openssh.com.
  static Request StatFileSystem(std::string path) {
    return {Operation::kStatFileSystem, std::move(path)};
  }
  /// `permissions` are for a new file, and pass through the guest's umask. Opening a FIFO would
  /// block the SFTP server: stat it first.
  static Request Open(std::string path, OpenMode mode = OpenMode::kRead,
                      std::uint32_t permissions = 0) {
    AttributeChange change;
    if (mode == OpenMode::kCreateExclusive) change.permissions = permissions;
    return {.operation = Operation::kOpen, .path = std::move(path), .mode = mode, .change = change};
  }
  static Request OpenDirectory(std::string path) {
    return {Operation::kOpenDirectory, std::move(path)};
  }
  /// `permissions` pass through the guest's umask. The parent must exist.
  static Request MakeDirectory(std::string path, std::uint32_t permissions) {
    return {.operation = Operation::kMakeDirectory,
            .path = std::move(path),
            .change = {.permissions = permissions, .size = {}}};
  }
  /// Replaces `to` atomically (posix-rename@openssh.com).
  static Request Rename(std::string from, std::string to) {
    return {Operation::kRename, std::move(from), std::move(to)};
  }
  /// Removes a name that is not a directory.
  static Request Unlink(std::string path) { return {Operation::kUnlink, std::move(path)}; }
  static Request StatOpen(const Handle& handle) { return With(handle, Operation::kStatOpen); }
  /// At most kMaxTransfer bytes. Only an empty reply means the end of the file.
  static Request Read(const Handle& handle, std::uint64_t offset, std::size_t length) {
    Request request = With(handle, Operation::kRead);
    request.offset = offset;
    request.length = std::min(length, kMaxTransfer);
    return request;
  }
  /// At most kMaxTransfer `bytes`, which must live until RoundTrip returns.
  static Request Write(const Handle& handle, std::uint64_t offset, std::string_view bytes) {
    Request request = With(handle, Operation::kWrite);
    request.offset = offset;
    request.bytes = bytes;
    return request;
  }
  static Request SetAttributes(const Handle& handle, const AttributeChange& change) {
    Request request = With(handle, Operation::kSetAttributes);
    request.change = change;
    return request;
  }
  /// kUnsupported without fsync@openssh.com.
  static Request Sync(const Handle& handle) { return With(handle, Operation::kSync); }
  static Request Close(const Handle& handle) { return With(handle, Operation::kClose); }
  /// Some of the names, with "." and ".."; empty at the end.
  static Request ReadDirectory(const Handle& handle) {
    return With(handle, Operation::kReadDirectory);
  }
  static Request With(const Handle& handle, Operation operation) {
    return {.operation = operation, .path = handle.path, .handle = handle};
  }
};

/// The reply to one request.
struct Reply {
  std::variant<std::monostate, FileAttributes, std::string, FileSystemStatus, Handle,
               std::vector<DirectoryEntry>>
      value;
  std::optional<FileError> failure;

  /// Throws the failure, if any.
  template <typename Value>
  Value& As() {
    if (failure) throw FileError(*failure);
    return std::get<Value>(value);
  }
  void RequireSuccess() const {
    if (failure) throw FileError(*failure);
  }
  [[nodiscard]] bool Is(FileErrorCode code) const { return failure && failure->code() == code; }
};

/// Longest path from a guest, in bytes: Linux's PATH_MAX without the NUL; macOS has 1024.
inline constexpr std::size_t kMaxPath = 4095;

/// For implementations of Guest: turns an invalid path in the reply to a RealPath or ReadLink into
/// a failure.
void CheckPath(const Request& request, Reply& reply);

class OpenFile;

/// A connected guest. Thread-safe: any number of threads may call at once.
class Guest : public shell::Launcher {
 public:
  /// Sends all requests at once and waits for all replies, which are in the same order. The guest
  /// runs them in that order, and continues after a failure. The caller closes the handles among
  /// the replies. If RoundTrip throws, it closes the handles that it opened and those in Close
  /// requests.
  virtual std::vector<Reply> RoundTrip(const std::vector<Request>& requests,
                                       const support::Context& context) = 0;

  /// RoundTrip with one request.
  Reply Execute(Request request, const support::Context& context) {
    return std::move(RoundTrip({std::move(request)}, context).front());
  }

  /// False once the connection is known to be lost.
  [[nodiscard]] virtual bool alive() const { return true; }

  /// Closes a handle without waiting; ignores errors. Any thread.
  virtual void CloseLater(const Handle& handle) noexcept = 0;

  // One request each.
  FileAttributes LStat(const std::string& path, const support::Context& context) {
    return Execute(Request::LStat(path), context).As<FileAttributes>();
  }
  std::string RealPath(const std::string& path, const support::Context& context) {
    return std::move(Execute(Request::RealPath(path), context).As<std::string>());
  }
  std::string ReadLink(const std::string& path, const support::Context& context) {
    return std::move(Execute(Request::ReadLink(path), context).As<std::string>());
  }
  std::unique_ptr<OpenFile> Open(const std::string& path, OpenMode mode, std::uint32_t permissions,
                                 const support::Context& context);

  /// The port of the guest's loopback that leads to this program; 0: none.
  [[nodiscard]] virtual int forwarded_port() const { return 0; }

  /// Joins a stream socket to a server on this port of the guest's loopback. Never waits. On
  /// failure, its other end sees a reset. Calls `on_end` once, on a thread of the guest's, which it
  /// must not hold up.
  virtual void Forward(support::FileDescriptor socket, int port,
                       std::function<void(ForwardEnd)> on_end) = 0;

  /// Runs commands.
  virtual shell::Shells& shells() = 0;
};

/// An open file or directory; the destructor closes it without waiting. The guest must outlive it.
/// One thread at a time.
class OpenFile {
 public:
  OpenFile(Guest& guest, Handle handle) : guest_(&guest), handle_(std::move(handle)) {}
  ~OpenFile() {
    if (guest_ != nullptr) guest_->CloseLater(handle_);
  }
  OpenFile(OpenFile&& other) noexcept
      : guest_(std::exchange(other.guest_, nullptr)), handle_(std::move(other.handle_)) {}

  [[nodiscard]] Guest& guest() const { return *guest_; }
  [[nodiscard]] const Handle& handle() const { return handle_; }

  /// One Request::Read.
  std::string ReadSome(std::uint64_t offset, std::size_t length, const support::Context& context) {
    return std::move(
        guest_->Execute(Request::Read(handle_, offset, length), context).As<std::string>());
  }

  /// A round trip for each kMaxTransfer.
  void Write(std::uint64_t offset, std::string_view bytes, const support::Context& context);

  /// Write from 0, SetAttributes unless `change` is empty, Sync if offered, and Close; one round
  /// trip up to kMaxTransfer. Throws the first failure. No other call may follow. Returns the
  /// replies to `more`, which follow in the same round trip.
  std::vector<Reply> WriteAndClose(std::string_view bytes, const AttributeChange& change,
                                   const support::Context& context,
                                   const std::vector<Request>& more = {});

 private:
  Guest* guest_;  ///< null if closed or moved from
  Handle handle_;
};

/// The names of an open directory without "." and "..", in the guest's order. Takes one round trip
/// for a hundred names. Throws kPermissionDenied if the user may read but not enter the directory.
std::vector<DirectoryEntry> ReadNames(const OpenFile& directory, const support::Context& context);

struct ScriptOutput {
  std::string output;
  std::string error;
  bool is_too_long = false;  ///< above a limit
  /// Empty if unknown, or if the output is too long.
  std::optional<int> exit_status;
};

/// Bytes of each stream that are kept.
struct OutputLimits {
  std::size_t output = std::size_t{1} << 20;
  std::size_t error = std::size_t{1} << 20;
};

/// Runs a script (shell::Shells::RunScript): one round trip.
ScriptOutput CaptureScript(Guest& guest, const shell::Script& script,
                           const support::Context& context, const OutputLimits& limits = {});

}  // namespace guest
