#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "files/path_locks.h"
#include "files/temporary_file.h"
#include "guest/guest.h"
#include "paths/path_rules.h"
#include "support/context.h"

namespace files {

/// Writes whole files for the tools that change files. One for all of a server's calls.
/// Thread-safe.
class FileWriter {
 public:
  /// Hold it from the first look at a file's content until it has been written.
  [[nodiscard]] PathLocks::Lock Lock(const paths::ResolvedPath& path,
                                     const support::Context& context) {
    return locks_.Acquire(path.guest, context);
  }

  /// Makes missing parent directories (0777 less the guest's umask), then writes a temporary file
  /// beside the target, syncs it if the server offers that, closes it and renames it over the
  /// target. Whatever dies in between, the target is the old file or the whole new one. A temporary
  /// file whose name was taken, as a killed server leaves one, is removed by its age (see
  /// TemporaryFile). `target` must have been resolved for writing.
  ///
  /// An existing file keeps its permissions (rwx); they are always set, since SFTP does not tell
  /// the umask. setuid and setgid go. Hard links are broken, and owner, group, access control lists
  /// and extended attributes become those of a new file. A new file gets 0666 less the umask.
  ///
  /// If the directory takes no new file, an existing file is written in place: not atomic, but not
  /// begun if there is no room for what it grows by. Returns a note that says so, else "".
  ///
  /// `last_look` is called right before the target changes. If it throws, the target is unchanged.
  ///
  /// Throws support::CallError if something other than a regular file is there, or if writing in
  /// place failed: its text then says that the file may hold a part of the content. Else
  /// guest::FileError: the target is not changed. A file without the owner's write bit is
  /// kPermissionDenied, also for root. When the connection breaks, ConnectionLost::may_have_run
  /// says whether the target may have changed; if not, the write may be repeated. After a timeout
  /// the target is whole, unless the text says otherwise.
  ///
  /// Round trips: three (create; write, sync and close; rename), one more above
  /// guest::kMostAtOnce, and one for each missing parent. In place: eight, one more for a
  /// longer content.
  std::string Write(const paths::ResolvedPath& target, std::string_view content,
                    guest::Guest& guest, const support::Context& context,
                    const std::function<void()>& last_look = {});

 private:
  std::string WriteOrThrow(const paths::ResolvedPath& target, std::string_view content,
                           guest::Guest& guest, const support::Context& context,
                           const std::function<void()>& last_look);

  PathLocks locks_;
  TemporaryNames names_;
};

}  // namespace files
