#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "guest/guest.h"
#include "support/context.h"
#include "tools/leftover_cleaner.h"
#include "tools/path_rules.h"

/// Putting a whole new content where a file is, or is to be.
namespace tools {

/// Temporary files that could not be removed because the line broke under a write, for the next
/// attempt to remove. One thread.
class LeftBehind {
 public:
  void Add(const std::string& path) { paths_.push_back(path); }

  /// Removes them; what the guest refuses to remove is only logged, and then forgotten. One round
  /// trip each. Throws support::ConnectionLost and support::Stopped, with the rest still to remove.
  void Remove(guest::Guest& guest, const support::Context& context);

 private:
  std::vector<std::string> paths_;
};

/// Who removes what a write cannot remove itself, and who may still say no.
struct WriteHelpers {
  LeftoverCleaner& cleaner;  ///< of the connection: when nobody is left here
  LeftBehind& left_behind;  ///< of the call, for all its attempts: what an earlier one had to leave
  /// Called right before the target changes; may throw, and then it does not. May be empty.
  std::function<void()> last_look = {};
};

/// Makes missing parent directories (0777 less the guest's umask), then writes a temporary file
/// beside the target, syncs it where the server offers that, closes it and renames it over the
/// target: whatever dies in between, the target is the old file or the whole new one. The temporary
/// file is removed when the write fails; see WriteHelpers for when it cannot be.
/// `target` must have been resolved for writing.
///
/// An existing file keeps its permissions (rwx; setuid and setgid go, as they do when a file is
/// written to), its hard links, owner and group. Where a rename would lose links (or nobody can
/// count them), owner or group, or the directory takes no new file, the content is written in place
/// instead: not atomic, but not begun where what it grows by has no room. Access control lists and
/// extended attributes cannot be seen over SFTP and stay in place only. A new file gets 0666 less
/// the guest's umask.
///
/// Throws support::CallError when something other than a regular file is there, or writing in place
/// failed: its text then says that the file may hold a part of the content. Else guest::FileError,
/// also for a file that is marked read-only: the target is not changed. When the line breaks,
/// support::ConnectionLost tells with may_have_run() whether the target may be another; if not, the
/// write may be done once more. When the time is over the target is whole, unless the text says
/// more.
///
/// No file is put into the directory beneath a mount that has vanished (require_mounted); missing
/// parents may have been.
///
/// Round trips: new file: three (open; write, sync and close at once; rename), and one for each
/// missing parent. Existing one: six; two more count its links (link_count.h) and one compares
/// owners; in place, one sets the length, and one asks for room for a longer content. Two more
/// above guest::kLargestWriteAtOnce, one to set permissions where the umask cut them. The first one
/// in a directory: three for the cleaner's note.
void WriteWhole(const ResolvedPath& target, std::string_view content, const WriteHelpers& helpers,
                guest::Guest& guest, const support::Context& context);

}  // namespace tools
