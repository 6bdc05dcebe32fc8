// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "guest/guest.h"
#include "paths/path_rules.h"
#include "support/context.h"
#include "support/errors.h"

namespace files {

/// All servers name their temporary files `.limactl-mcp-1`, `.limactl-mcp-2`, …. So a server finds
/// those that a killed server left, without listing the directory.
inline constexpr std::string_view kTemporaryPrefix = ".limactl-mcp-";

/// An older temporary file is unused, because calls end within a minute.
inline constexpr std::chrono::minutes kLeftoverAge{10};

/// Something else has written to a file since it was resolved. Nothing was changed.
class ChangedMeanwhile : public support::Error {
 public:
  explicit ChangedMeanwhile(const std::string& shown);
};

enum class Overwrite {
  kAlways,
  kIfUnchanged,  ///< only if the target still has the attributes that it was resolved with
};

/// Writes whole files for the tools that change files. A server has one for all calls. Thread-safe.
class FileWriter {
 public:
  /// Locks the path's directory against other calls that change files in it. Agents send several
  /// edits of a file at once; if two read before either writes, one edit is lost. So take the lock
  /// before reading the file, and hold it until Write has returned; it must not outlive the writer.
  /// Throws support::Stopped.
  using DirectoryLock = std::shared_ptr<const void>;
  [[nodiscard]] DirectoryLock Lock(const paths::ResolvedPath& path,
                                   const support::Context& context);

  /// Creates missing parent directories (0777 less the guest's umask), writes a temporary file
  /// beside the target, syncs it if the server can, closes it and renames it over the target. At
  /// any moment the target is the old file or the whole new one. `target` must have been resolved
  /// for writing, and the caller must hold the Lock.
  ///
  /// An existing file keeps its mode. Hard links are broken; access control lists and extended
  /// attributes become those of a new file. A new file gets 0666 less the umask.
  ///
  /// A file is written in place, which is not atomic, if it has another owner or group than a new
  /// one, if it is a mount point, or if no file can be created in the directory. It keeps
  /// everything but setuid and setgid, which the kernel removes. Returns a note about that, else
  /// "".
  ///
  /// Throws guest::FileError if the target was not changed. Throws support::Error if it is not
  /// a regular file, if its directory was replaced, or if a write in place failed; the message then
  /// says that it may have been written in part. Throws ChangedMeanwhile as `overwrite` says. A
  /// file without the owner's write bit is kPermissionDenied, even for root.
  /// support::ConnectionLost::may_have_run tells whether the target may have changed. After a
  /// timeout, the target is whole unless the message says otherwise.
  ///
  /// Takes three round trips (create; write, sync and close; rename), one more above
  /// guest::kMaxTransfer, and one for each missing parent. A write in place takes up to nine.
  std::string Write(const paths::ResolvedPath& target, std::string_view content,
                    guest::Guest& guest, const support::Context& context,
                    Overwrite overwrite = Overwrite::kAlways);

 private:
  std::mutex mutex_;
  std::condition_variable released_;
  std::set<std::string> locked_;  ///< directories, resolved by the guest
};

}  // namespace files
