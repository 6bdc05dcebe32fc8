#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guest/file_error.h"
#include "support/context.h"
#include "support/errors.h"

/// The one seam to the virtual machine. Tools see nothing else of it; ssh/ implements it, tests put
/// a fake in its place.
///
/// Paths are bytes: absolute, in the guest's own naming, without NUL. Names that the guest sends
/// back may hold any bytes but '/' and NUL.
///
/// Every operation throws `FileError` when the guest refuses it (of a command another
/// `support::CallError`), `support::ConnectionLost` when the line breaks, and `support::Stopped`
/// when its context is stopped or its deadline passes; one on files throws `NoFileServer`
/// (no_file_server.h) where the guest serves none. One operation is one round trip unless it says
/// otherwise.
///
/// Some operations stand for several others that are asked at once, in that order, so that they
/// cost one round trip together. Here they are made of those others, one after the other; an
/// implementation that can send several requests at once overrides them.
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
  /// How many hard links there are, where the guest's server tells (OpenSSH's does, in the text of
  /// READDIR's answer).
  std::optional<std::uint32_t> link_count = {};
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

/// The beginning of a file and what it is.
struct FileBeginning {
  FileAttributes attributes;
  std::string bytes;
};

/// A path's RealFile, and what is in it where it is a directory.
struct FoundDirectory {
  RealFile file;
  std::optional<std::vector<DirectoryEntry>> entries;
};

/// A path's RealFile, and its content where it is a regular file.
struct FoundFile {
  RealFile file;
  /// By StatAndRead of one byte more than `file` is said to have.
  std::optional<FileBeginning> beginning;
};

/// What OpenFile::WriteAndClose sends at once: what every server takes in one packet (SFTP version
/// 3, section 3).
inline constexpr std::size_t kLargestWriteAtOnce = std::size_t{32} * 1024;

/// An open file in the guest. The destructor closes it without waiting for an answer; who wrote
/// must call Close and hear about errors. One thread at a time.
class OpenFile {
 public:
  virtual ~OpenFile() = default;

  /// What was really opened, whatever the path names by now.
  virtual FileAttributes Stat(const support::Context& context) = 0;

  /// Reads up to `length` bytes from `offset`; a shorter answer means the file ends there. Any
  /// length is allowed: the implementation pipelines as many requests as it takes.
  virtual std::string Read(std::uint64_t offset, std::size_t length,
                           const support::Context& context) = 0;

  /// Writes all of `bytes` at `offset`, pipelined like Read.
  virtual void Write(std::uint64_t offset, std::string_view bytes,
                     const support::Context& context) = 0;

  virtual void SetAttributes(const AttributeChange& change, const support::Context& context) = 0;

  /// Returns false where the guest's server does not offer fsync.
  virtual bool Sync(const support::Context& context) = 0;

  /// Closes and reports what the guest says. No other call may follow.
  virtual void Close(const support::Context& context) = 0;

  /// Stat and Read from 0 at once; `length` should be one more than the file is thought to have,
  /// so that a shorter answer tells its end.
  virtual FileBeginning StatAndRead(std::size_t length, const support::Context& context);

  /// Write from 0, Sync and Close, at once where there are at most kLargestWriteAtOnce `bytes`.
  /// Throws what the first of them that failed would have thrown; that Sync is not offered is no
  /// failure. No other call may follow.
  virtual void WriteAndClose(std::string_view bytes, const support::Context& context);
};

enum class OutputStream { kStandardOutput, kStandardError };

/// Where a command's output goes, piece by piece as it arrives.
class OutputSink {
 public:
  virtual ~OutputSink() = default;

  /// Called on the thread that owns the connection: must be quick, must not throw, must not call
  /// the guest. Returns false to say that no more is wanted: the channel is then closed and Run
  /// returns.
  virtual bool OnOutput(OutputStream stream, std::string_view bytes) = 0;

  /// Nothing more comes, unless OnOutput has said that no more is wanted. On the same thread, under
  /// the same rules.
  virtual void OnEnd() {}
};

/// Who goes first where the guest's sshd allows no further channel now.
enum class Turn {
  kFirst,      ///< before all that wait: it ends what another command began
  kInOrder,    ///< short, or what somebody waits for
  kOpenEnded,  ///< may run for ever, and therefore leaves channels to the others
};

struct Command {
  /// Given to the guest user's shell by sshd (`$SHELL -c`). At most kMaximumCommandLine bytes.
  std::string command_line;

  /// Sent to the command's standard input.
  std::string standard_input;

  /// False: standard input ends after `standard_input`. True: it stays open until Run returns or
  /// its context is stopped, so that a watcher in the guest sees the end of a lost client.
  bool hold_standard_input_open = false;

  /// True: the command only looks, so that it may be run again whatever became of it. A lost line
  /// is then support::ConnectionLost without may_have_run().
  bool changes_nothing = false;

  /// True: what the command does comes on its standard input alone, which is held open, and one
  /// that differs from it in nothing else will be wanted again. One may then be started ahead, and
  /// wait for its input: with an environment that is a few minutes old, but not older than the last
  /// command that may have changed something.
  bool may_be_started_ahead = false;

  /// True: the sink can tell where the output ends, and it has not ended with the command. After
  /// the exit status Run goes on until the sink wants no more or the channel's output ends, however
  /// much is still on its way; where neither happens, until nothing has come for ten seconds.
  bool sink_knows_end = false;

  /// How long output is still taken after the context was stopped. Standard input ends at once, so
  /// that a watcher in the guest ends the command; what it has printed until then is on its way.
  /// Run throws support::Stopped when the sink wants no more, the channel ends, or this has passed.
  std::chrono::milliseconds stop_grace{0};

  Turn turn = Turn::kInOrder;

  /// Called at most once, when the command has to wait because the guest's sshd allows no further
  /// channel now. On the thread that owns the connection: must be quick, must not throw, must not
  /// call the guest. May be empty.
  std::function<void()> on_queued = {};

  /// For StartWaiting: how long it lets pass before it starts the command, so that one that is
  /// given up sooner costs nothing.
  std::chrono::milliseconds start_delay{0};
};

/// An exec request above this is refused before it is sent: one of 300,000 bytes ends the whole
/// session, and Linux refuses a single argument above 128 KiB (MAX_ARG_STRLEN). Longer scripts go
/// through standard input.
inline constexpr std::size_t kMaximumCommandLine = std::size_t{120} * 1024;

/// How a command ended. Both are empty when the channel was closed without either, which happens
/// when the sink asked for the end.
struct CommandResult {
  std::optional<int> exit_status;
  std::optional<std::string> exit_signal;  ///< without "SIG": "KILL"
};

/// A command that has been started ahead of its need and waits for input. One thread at a time. The
/// destructor ends it, without waiting, by closing its standard input.
class WaitingCommand {
 public:
  virtual ~WaitingCommand() = default;

  /// False once it has ended, or has been given up because its channel was needed otherwise.
  [[nodiscard]] virtual bool waiting() const = 0;

  /// Sends `input` and goes on as Guest::Run does. Once. Throws support::ConnectionLost with
  /// may_have_run() false where the command no longer waited: nothing was sent then.
  virtual CommandResult Finish(const std::string& input, const support::Context& context) = 0;
};

/// A connected guest. Thread-safe: any number of threads may call at once.
class Guest {
 public:
  virtual ~Guest() = default;

  /// Follows links.
  virtual FileAttributes Stat(const std::string& path, const support::Context& context) = 0;

  /// Does not follow a link in the last component.
  virtual FileAttributes LStat(const std::string& path, const support::Context& context) = 0;

  /// Where a symbolic link points, as written in it.
  virtual std::string ReadLink(const std::string& path, const support::Context& context) = 0;

  /// The absolute path without links, "." and "..". A missing last component is no error, a missing
  /// parent is kNotFound (OpenSSH's server).
  virtual std::string RealPath(const std::string& path, const support::Context& context) = 0;

  /// RealPath, and LStat of what it gave, at once where that is `path` itself, as it is for a path
  /// without links: two round trips elsewhere.
  virtual RealFile FindRealFile(const std::string& path, const support::Context& context);

  /// FindRealFile, and List where that gave `path` itself and a directory that can be listed: at
  /// most two round trips for a directory of a hundred names, and for what cannot be listed.
  virtual FoundDirectory FindAndList(const std::string& path, const support::Context& context);

  /// FindRealFile, and where that gave `path` itself and a regular file of less than `most_bytes`
  /// that can be read: Open and StatAndRead. Three round trips, without a way back to the caller in
  /// between. An implementation may leave the content of larger files to the caller.
  virtual FoundFile FindAndRead(const std::string& path, std::uint64_t most_bytes,
                                const support::Context& context);

  /// `permissions` matter only where the file is created, and pass through the guest's umask.
  /// Opening a FIFO would block the guest's server: Stat first.
  virtual std::unique_ptr<OpenFile> Open(const std::string& path, OpenMode mode,
                                         std::uint32_t permissions,
                                         const support::Context& context) = 0;

  /// All entries but "." and "..", in the order of the guest. Several round trips. A directory that
  /// may be read but not entered is kPermissionDenied where the guest shows none of its names.
  virtual std::vector<DirectoryEntry> List(const std::string& path,
                                           const support::Context& context) = 0;

  /// Stat, and List unless the directory itself has `directory_bytes` or more (st_size, which grows
  /// with the names that it has held): then nothing. Stat costs no round trip of its own.
  virtual std::optional<std::vector<DirectoryEntry>> ListSmall(const std::string& path,
                                                               std::uint64_t directory_bytes,
                                                               const support::Context& context);

  /// `permissions` pass through the guest's umask. The parent must exist.
  virtual void MakeDirectory(const std::string& path, std::uint32_t permissions,
                             const support::Context& context) = 0;

  /// Replaces `to` atomically where it exists (posix-rename@openssh.com).
  virtual void Rename(const std::string& from, const std::string& to,
                      const support::Context& context) = 0;

  /// Removes a name that is not a directory.
  virtual void Unlink(const std::string& path, const support::Context& context) = 0;

  /// Throws kUnsupported where the guest's server does not offer statvfs@openssh.com.
  virtual FileSystemStatus StatFileSystem(const std::string& path,
                                          const support::Context& context) = 0;

  /// Runs one command and returns when it has ended, or when the sink wants no more. When the
  /// context is stopped, the command's standard input is closed, and after Command::stop_grace its
  /// process group is sent TERM; Run then throws `support::Stopped` without waiting for the guest.
  virtual CommandResult Run(const Command& command, OutputSink& sink,
                            const support::Context& context) = 0;

  /// Starts a command without waiting for anything. Its `standard_input` is sent at once, further
  /// input by WaitingCommand::Finish, and until then it gives way to whoever needs a channel. Null
  /// where this guest cannot do that, or its connection has ended; where there is no channel to
  /// spare, WaitingCommand::waiting() soon is false. Throws support::CallError for a command line
  /// that is too long.
  virtual std::unique_ptr<WaitingCommand> StartWaiting(Command command,
                                                       std::shared_ptr<OutputSink> sink) = 0;
};

}  // namespace guest
