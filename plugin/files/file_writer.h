#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "guest/guest.h"
#include "paths/path_rules.h"
#include "support/context.h"

namespace files {

/// Temporary files are called `.limactl-mcp-1`, `.limactl-mcp-2`, …, in every server. So a server
/// meets what a killed one left without listing the directory.
inline constexpr std::string_view kTemporaryPrefix = ".limactl-mcp-";

/// No write uses an older temporary file: calls end within a minute.
inline constexpr std::chrono::minutes kLeftoverAge{10};

/// Writes whole files for the tools that change files; one for all calls of a server. Thread-safe.
class FileWriter {
 public:
  /// Holds a directory until it is destroyed. The writer must outlive it.
  class DirectoryLock {
   public:
    DirectoryLock(const DirectoryLock&) = delete;
    DirectoryLock& operator=(const DirectoryLock&) = delete;
    ~DirectoryLock();

   private:
    friend class FileWriter;
    DirectoryLock(FileWriter& writer, std::string directory)
        : writer_(writer), directory_(std::move(directory)) {}
    FileWriter& writer_;
    std::string directory_;
  };

  /// Waits until no other call changes files in the path's directory. Agents send several edits of
  /// one file at once; of two that read before either has written, one would be lost. So take the
  /// lock before looking at the file's content, and hold it until Write has returned. Throws
  /// support::Stopped.
  [[nodiscard]] DirectoryLock Lock(const paths::ResolvedPath& path,
                                   const support::Context& context);

  /// Creates missing parent directories (0777 less the guest's umask), writes a temporary file
  /// beside the target, syncs it if the server offers that, closes it and renames it over the
  /// target. At any moment the target is the old file or the whole new one. `target` must have been
  /// resolved for writing, and Lock must be held.
  ///
  /// An existing file keeps its permissions (rwx), but not setuid and setgid. Hard links are
  /// broken. Owner, group, access control lists and extended attributes become those of a new file.
  /// A new file gets 0666 less the umask.
  ///
  /// If the directory takes no new file, an existing file is written in place, which is not atomic.
  /// Returns a note that says so, else "".
  ///
  /// `last_look` is called right before the target changes. If it throws, the target is unchanged.
  ///
  /// Throws guest::FileError if the target was not changed, and support::CallError for something
  /// other than a regular file and for a write in place that failed: its text says that the file
  /// may have been written in part. A file without the owner's write bit is kPermissionDenied, also
  /// for root. support::ConnectionLost::may_have_run says whether the target may have changed.
  /// After a timeout the target is whole unless the text says otherwise.
  ///
  /// Round trips: three (create; write, sync and close; rename), one more above
  /// guest::kMaximumTransfer, and one for each missing parent. In place: eight.
  std::string Write(const paths::ResolvedPath& target, std::string_view content,
                    guest::Guest& guest, const support::Context& context,
                    const std::function<void()>& last_look = {});

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  std::set<std::string> locked_;  ///< directories, resolved by the guest
};

}  // namespace files
