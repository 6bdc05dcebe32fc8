#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "guest/file_error.h"
#include "shell/process.h"
#include "shell/shells.h"
#include "support/context.h"
#include "support/errors.h"

/// The one seam to the virtual machine. Tools see nothing else of it; ssh/ implements it, tests put
/// a fake in its place.
///
/// What a guest says is not believed where it makes no sense: a RealPath or ReadLink that no path
/// can be is a FileError (kFailure).
///
/// Paths are bytes: absolute, in the guest's own naming, without NUL. Names that the guest sends
/// back may hold any bytes but '/' and NUL.
///
/// Files are asked for in bursts: AskAll sends several requests at once, which cost one round trip
/// together. All that throws `FileError` when the guest refuses, `support::ConnectionLost` when the
/// line breaks, and `support::Stopped` when its context is stopped or its deadline passes; where
/// the guest serves no files, `support::CallError` says so. One call is one round trip unless it
/// says otherwise.
namespace guest {

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

/// What st_mode tells, with the numbers that are the same in every Unix (POSIX leaves them open).
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

/// Where a path leads, and what is there.
struct RealFile {
  std::string path;                          ///< as RealPath gives it
  std::optional<FileAttributes> attributes;  ///< as LStat gives them; empty where nothing is there
};

/// Whether `path` led through no link to something of this type.
[[nodiscard]] bool IsItself(const RealFile& file, std::string_view path, FileType type);

/// What to change of a file; what is not set stays.
struct AttributeChange {
  std::optional<std::uint32_t> permissions;  ///< 07777
  std::optional<std::uint64_t> size;         ///< truncates or extends
};

struct FileSystemStatus {
  std::uint64_t free_bytes = 0;  ///< available to the guest user
  bool read_only = false;

  // What tells one file system from another; each may be 0 where it has no such thing.
  std::uint64_t id = 0;          ///< f_fsid
  std::uint64_t block_size = 0;  ///< bytes
  std::uint64_t blocks = 0;      ///< all of them
  std::uint64_t maximum_name = 0;
};

enum class OpenMode {
  kRead,             ///< an existing file, for reading
  kWrite,            ///< an existing file, for writing; nothing is cut off
  kCreateExclusive,  ///< a file that must not exist yet (nor a link of that name), for writing
};

/// An open file or directory. Worth something only to the guest that gave it, and only as long as
/// its file server lives.
struct Handle {
  std::string value;          ///< the server's own
  std::uint64_t channel = 0;  ///< which of the connection's file servers, one after the other
  std::string path;           ///< as it was opened: for texts
  bool writes = false;        ///< opened for writing: to close it may change the guest

  friend bool operator==(const Handle&, const Handle&) = default;
};

/// What AskAll may ask for. Behind each is what Reply::As gives; those without give nothing.
namespace ask {

struct Stat {  // FileAttributes; follows links
  std::string path;
};
struct LStat {  // FileAttributes; of a link itself
  std::string path;
};
/// The absolute path without links, "." and "..". A missing last component is no error, a missing
/// parent is kNotFound (OpenSSH's server).
struct RealPath {  // std::string
  std::string path;
};
struct ReadLink {  // std::string, as written in the link
  std::string path;
};
/// kUnsupported where the guest's server does not offer statvfs@openssh.com.
struct StatFileSystem {  // FileSystemStatus
  std::string path;
};
/// `permissions` matter only where the file is created, and pass through the guest's umask. Opening
/// a FIFO would block the guest's server: look first.
struct Open {  // Handle
  std::string path;
  OpenMode mode = OpenMode::kRead;
  std::uint32_t permissions = 0;
};
struct OpenDirectory {  // Handle
  std::string path;
};
/// `permissions` pass through the guest's umask. The parent must exist.
struct MakeDirectory {
  std::string path;
  std::uint32_t permissions = 0;
};
/// Replaces `to` atomically where it exists (posix-rename@openssh.com).
struct Rename {
  std::string from;
  std::string to;
};
/// Removes a name that is not a directory.
struct Unlink {
  std::string path;
};
struct StatOpen {  // FileAttributes of what was really opened
  Handle handle;
};
/// At most kMostAtOnce bytes. A shorter answer need not be the end of the file, an empty one is.
struct Read {  // std::string
  Handle handle;
  std::uint64_t offset = 0;
  std::size_t length = 0;
};
/// At most kMostAtOnce `bytes`, which must live until AskAll returns.
struct Write {
  Handle handle;
  std::uint64_t offset = 0;
  std::string_view bytes;
};
struct SetAttributes {
  Handle handle;
  AttributeChange change;
};
/// kUnsupported where the guest's server does not offer fsync@openssh.com.
struct Sync {
  Handle handle;
};
struct Close {
  Handle handle;
};
/// Some of the names, "." and ".." among them; none: there are no more.
struct ReadDirectory {  // std::vector<DirectoryEntry>
  Handle handle;
};

}  // namespace ask

using Request = std::variant<ask::Stat, ask::LStat, ask::RealPath, ask::ReadLink,
                             ask::StatFileSystem, ask::Open, ask::OpenDirectory, ask::MakeDirectory,
                             ask::Rename, ask::Unlink, ask::StatOpen, ask::Read, ask::Write,
                             ask::SetAttributes, ask::Sync, ask::Close, ask::ReadDirectory>;

/// Bytes of one ask::Read or ask::Write: what has been asked for still comes when nobody wants it
/// any longer.
inline constexpr std::size_t kMostAtOnce = std::size_t{4} << 20;

/// What the guest said to one request.
struct Reply {
  std::variant<std::monostate, FileAttributes, std::string, FileSystemStatus, Handle,
               std::vector<DirectoryEntry>>
      value;
  std::optional<FileError> failure;

  /// Throws the failure where there is one.
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

class Guest;

/// Keeps a handle open, and closes it without waiting for an answer. The guest must outlive it.
class OpenHandle {
 public:
  OpenHandle(Guest& guest, Handle handle) : guest_(&guest), handle_(std::move(handle)) {}
  ~OpenHandle() { Reset(); }
  OpenHandle(OpenHandle&& other) noexcept
      : guest_(std::exchange(other.guest_, nullptr)), handle_(std::move(other.handle_)) {}
  OpenHandle& operator=(OpenHandle&& other) noexcept {
    if (this != &other) {
      Reset();
      guest_ = std::exchange(other.guest_, nullptr);
      handle_ = std::move(other.handle_);
    }
    return *this;
  }
  OpenHandle(const OpenHandle&) = delete;
  OpenHandle& operator=(const OpenHandle&) = delete;

  [[nodiscard]] Guest& guest() const { return *guest_; }
  [[nodiscard]] const Handle& operator*() const { return handle_; }
  [[nodiscard]] const Handle* operator->() const { return &handle_; }

  /// It is closed by somebody else.
  Handle Release() {
    guest_ = nullptr;
    return std::move(handle_);
  }

 private:
  void Reset() noexcept;

  Guest* guest_;  ///< null: nothing is to be closed
  Handle handle_;
};

/// The beginning of a file and what it is.
struct FileBeginning {
  FileAttributes attributes;
  std::string bytes;
};

/// An open file in the guest. Who wrote must call Close and hear about errors. One thread at a
/// time.
class OpenFile {
 public:
  explicit OpenFile(OpenHandle handle) : handle_(std::move(handle)) {}

  /// What was really opened, whatever the path names by now.
  FileAttributes Stat(const support::Context& context);

  /// Reads up to `length` bytes from `offset`; a shorter answer means the file ends there. A round
  /// trip for each kMostAtOnce.
  std::string Read(std::uint64_t offset, std::size_t length, const support::Context& context);

  /// Writes all of `bytes` at `offset`. A round trip for each kMostAtOnce.
  void Write(std::uint64_t offset, std::string_view bytes, const support::Context& context);

  void SetAttributes(const AttributeChange& change, const support::Context& context);

  /// Returns false where the guest's server does not offer fsync.
  bool Sync(const support::Context& context);

  /// Closes and reports what the guest says. No other call may follow.
  void Close(const support::Context& context);

  /// Stat, Read from 0 and Close at once, up to kMostAtOnce; fewer bytes than asked for and than
  /// the attributes tell: the guest's server gives less at a time. No other call may follow.
  FileBeginning ReadAndClose(std::size_t length, const support::Context& context);

  /// Write from 0, set the permissions (07777) if there are any, Sync and Close, at once where
  /// there are at most kMostAtOnce `bytes`. Throws the first failure; that Sync is not offered is
  /// none. No other call may follow.
  void WriteAndClose(std::string_view bytes, std::optional<std::uint32_t> permissions,
                     const support::Context& context);

 private:
  OpenHandle handle_;
};

/// All names of an open directory but "." and "..", in the order of the guest: one round trip for a
/// hundred names. A directory that may be read but not entered is kPermissionDenied where the guest
/// shows none of its names.
std::vector<DirectoryEntry> ReadNames(const OpenHandle& directory, const support::Context& context);

/// Bytes of a path that a guest answers with: Linux's PATH_MAX counts the NUL at its end too, and
/// macOS takes 1024.
inline constexpr std::size_t kLongestPath = 4095;

/// A connected guest. Thread-safe: any number of threads may call at once.
class Guest : public shell::Launcher {
 public:
  Guest() = default;
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  /// Sends all of them at once, in one round trip, and waits for the last reply; there are as many
  /// replies as requests, in their order. The guest works in that order too, and goes on where one
  /// fails. A burst that is lost with the line may have run where one of its requests may. Handles
  /// among the replies are the caller's to close; where it throws, none stays open, and what it was
  /// to close is closed.
  std::vector<Reply> AskAll(std::vector<Request> requests, const support::Context& context);

  /// Closes a handle without waiting. Any thread; no error is told.
  virtual void CloseLater(const Handle& handle) noexcept = 0;

  // One request each, or what is said.
  FileAttributes Stat(const std::string& path, const support::Context& context);
  FileAttributes LStat(const std::string& path, const support::Context& context);
  std::string RealPath(const std::string& path, const support::Context& context);
  std::string ReadLink(const std::string& path, const support::Context& context);
  FileSystemStatus StatFileSystem(const std::string& path, const support::Context& context);
  void Rename(const std::string& from, const std::string& to, const support::Context& context);
  void Unlink(const std::string& path, const support::Context& context);
  /// One more where it fails for no reason given: whether the name is taken (kAlreadyExists).
  void MakeDirectory(const std::string& path, std::uint32_t permissions,
                     const support::Context& context);
  /// As MakeDirectory where the file is created.
  std::unique_ptr<OpenFile> Open(const std::string& path, OpenMode mode, std::uint32_t permissions,
                                 const support::Context& context);
  /// Two round trips for a hundred names.
  std::vector<DirectoryEntry> List(const std::string& path, const support::Context& context);
  /// RealPath and LStat of what it gave: one round trip where that is `path` itself, as it is for a
  /// path without links, two elsewhere.
  RealFile FindRealFile(const std::string& path, const support::Context& context);

  /// See shell::Shells.
  virtual shell::RunEnd RunScript(const std::string& script, shell::OutputSink& sink,
                                  const support::Context& context) {
    return shells_.RunScript(script, sink, context);
  }
  virtual shell::RunEnd RunCommand(const shell::LoginCommand& command, shell::OutputSink& sink,
                                   const support::Context& context) {
    return shells_.RunCommand(command, sink, context);
  }

 protected:
  /// See shell::Shells.
  bool MakeRoom() { return shells_.MakeRoom(); }

 private:
  /// AskAll, but for whether the answers make sense.
  virtual std::vector<Reply> Answer(std::vector<Request> requests,
                                    const support::Context& context) = 0;

  shell::Shells shells_{*this};
};

struct ScriptAnswer {
  std::string output;              ///< standard output
  std::optional<int> exit_status;  ///< empty: unknown, or the output is above kMaximumAnswer
};

inline constexpr std::size_t kMaximumAnswer = std::size_t{1} << 20;

/// Runs a short script (shell::Shells::RunScript): one round trip.
ScriptAnswer AskScript(Guest& guest, const std::string& script, const support::Context& context);

}  // namespace guest
