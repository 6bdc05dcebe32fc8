// SPDX-License-Identifier: Apache-2.0
#include "files/file_writer.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "files/file_content.h"
#include "files/file_problem.h"
#include "shell/shell_quote.h"
#include "support/errors.h"
#include "support/format.h"
#include "support/log.h"
#include "support/paths.h"

namespace files {
namespace {

using guest::FileError;
using guest::FileErrorCode;
using support::Format;

constexpr std::uint32_t kNewFilePermissions = 0666;
constexpr std::uint32_t kNewDirectoryPermissions = 0777;
constexpr std::uint32_t kPermissionBits = 0777;
constexpr std::uint32_t kOwnerMayWrite = 0200;

/// A write fails if other servers use this many names in its directory.
constexpr int kMaxTaken = 16;
constexpr const char* kTakenText =
    "other servers write in this directory, or left files there: if no server runs, remove "
    ".limactl-mcp-1 to .limactl-mcp-16";

constexpr std::chrono::seconds kCleanUpTimeLimit{5};

void MakeParents(const paths::ResolvedPath& target, guest::Guest& guest,
                 const support::Context& context) {
  const std::string parent = support::ParentPath(target.guest);
  for (std::string made = target.existing_parent; made != parent;) {
    made = parent.substr(0, parent.find('/', made.size() + 1));
    const guest::Reply reply =
        guest.Execute(guest::Request::MakeDirectory(made, kNewDirectoryPermissions), context);
    if (!reply.failure) continue;
    // Another call may have created it. Anything else, such as a link, is refused.
    guest::Reply found = guest.Execute(guest::Request::LStat(made), context);
    if (found.failure) reply.RequireSuccess();
    if (found.As<guest::FileAttributes>().type != guest::FileType::kDirectory) {
      throw support::Error("write {}: a file with that name has appeared; try again", target.host);
    }
  }
}

/// A new file that the destructor removes unless RenameTo was called. The destructor waits at most
/// kCleanUpTimeLimit, also after a cancel.
///
/// It removes and renames only a file that it certainly created, as another server may use the same
/// name. So a file remains if the guest does not respond or the connection is lost; a later write
/// in the directory removes it. A server may have only one of these in a directory at a time.
class TemporaryFile {
 public:
  /// Creates the file with the lowest free number. One round trip, and two for each taken name.
  /// Throws support::Error if a link has taken the place of a directory since the target was
  /// resolved: it would have to change twice within one burst to be followed.
  TemporaryFile(const paths::ResolvedPath& target, std::uint32_t permissions, guest::Guest& guest,
                const support::Context& context)
      : prefix_(support::JoinPath(support::ParentPath(target.guest), kTemporaryPrefix)),
        guest_(guest),
        context_(context) {
    while (true) {
      const auto resolve = guest::Request::RealPath(support::ParentPath(target.guest));
      std::vector<guest::Request> requests{
          resolve,
          guest::Request::Open(Path(number_), guest::OpenMode::kCreateExclusive, permissions),
          resolve};
      if (target.attributes) requests.push_back(guest::Request::LStat(Path(number_)));
      std::vector<guest::Reply> replies = guest.RoundTrip(requests, context);
      guest::Reply& reply = replies[1];
      if (!reply.failure) {
        file_.emplace(guest, reply.As<guest::Handle>());
        RequireDirectory(target, {&replies[0], &replies[2]});
        if (target.attributes) attributes_ = replies[3].As<guest::FileAttributes>();
        return;
      }
      // SFTP version 3 has no code for a name that is taken.
      const bool is_taken = reply.Is(FileErrorCode::kFailure) &&
                            !guest.Execute(guest::Request::LStat(Path(number_)), context).failure;
      if (!is_taken) reply.RequireSuccess();
      if (number_ == kMaxTaken) {
        throw FileError(FileErrorCode::kFailure, "write", Path(number_), kTakenText);
      }
      ++number_;
    }
  }

  ~TemporaryFile() {
    if (is_ours_) Remove();
  }

  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// When it was made. Only if there is a file to replace.
  [[nodiscard]] const guest::FileAttributes& attributes() const { return attributes_; }

  /// Returns the replies to `more`, which follow in the same round trip.
  std::vector<guest::Reply> WriteAndClose(std::string_view bytes,
                                          std::optional<std::uint32_t> permissions,
                                          const std::vector<guest::Request>& more) {
    return file_->WriteAndClose(bytes, {permissions, std::nullopt}, context_, more);
  }

  void RenameTo(const std::string& target) {
    is_ours_ = false;  // set again if the guest reports that it was not renamed
    const guest::Reply reply =
        guest_.Execute(guest::Request::Rename(Path(number_), target), context_);
    is_ours_ = reply.failure && !reply.Is(FileErrorCode::kNotFound);
    reply.RequireSuccess();
  }

  /// Removes the temporary files with taken names that are older by kLeftoverAge than `written`, a
  /// file just written in the same directory. Logs errors. Takes at most two round trips; none if
  /// no name was taken.
  void RemoveLeftovers(const std::string& written) {
    if (number_ == 1) return;
    constexpr std::int64_t kAge = std::chrono::seconds(kLeftoverAge).count();
    try {
      std::vector<guest::Request> requests{guest::Request::LStat(written)};
      for (int i = 1; i < number_; ++i) requests.push_back(guest::Request::LStat(Path(i)));
      std::vector<guest::Reply> found = guest_.RoundTrip(requests, context_);
      // Both times are from the file system's clock, which may differ from the guest's.
      const std::int64_t now = found.front().As<guest::FileAttributes>().modified;
      std::vector<guest::Request> removals;
      for (int i = 1; i < number_; ++i) {
        guest::Reply& reply = found[static_cast<std::size_t>(i)];
        if (reply.failure) continue;  // already removed
        const auto& attributes = reply.As<guest::FileAttributes>();
        const bool is_old = attributes.modified + kAge < now;
        if (is_old && attributes.type == guest::FileType::kRegular) {
          removals.push_back(guest::Request::Unlink(Path(i)));
        }
      }
      if (!removals.empty()) guest_.RoundTrip(removals, context_);
    } catch (const support::Error& error) {
      support::LogInfo(Format("leftover temporary files were not removed: {}", error.what()));
    }
  }

 private:
  /// Throws if a link took the place of a directory, and removes the file from where it may be.
  void RequireDirectory(const paths::ResolvedPath& target, std::vector<guest::Reply*> resolved) {
    const std::string directory = support::ParentPath(target.guest);
    std::set<std::string> found;
    for (guest::Reply* each : resolved)
      if (!each->failure) found.insert(each->As<std::string>());
    if (found == std::set{directory}) return;
    for (const std::string& each : found) {
      prefix_ = support::JoinPath(each, kTemporaryPrefix);
      Remove();
    }
    throw support::Error(
        "write {}: a directory above it has been replaced meanwhile. Nothing was written: try "
        "again",
        target.host);
  }

  void Remove() {
    file_.reset();
    try {
      guest_
          .Execute(guest::Request::Unlink(Path(number_)),
                   support::Context().WithTimeout(kCleanUpTimeLimit))
          .RequireSuccess();
    } catch (const std::exception& error) {
      support::LogWarning(Format("cannot remove a temporary file in the guest: {}: {}",
                                 Path(number_), error.what()));
    }
  }

  [[nodiscard]] std::string Path(int number) const { return prefix_ + std::to_string(number); }

  std::string prefix_;
  guest::Guest& guest_;
  const support::Context& context_;
  int number_ = 1;  ///< the lower ones are taken
  std::optional<guest::OpenFile> file_;
  guest::FileAttributes attributes_;
  bool is_ours_ = true;
};

/// One call of FileWriter::Write.
struct WriteCall {
  const paths::ResolvedPath& target;
  std::string_view content;
  guest::Guest& guest;
  const support::Context& context;
  const Overwrite overwrite;
  enum class Stage { kUntouched, kRenaming, kInPlace } stage = Stage::kUntouched;

  /// Turns errors into messages about the target.
  std::string Run() {
    try {
      return Write();
    } catch (const FileError& error) {
      if (stage != Stage::kInPlace) throw;
      try {
        ThrowFileProblem(error, "write", target, content.size(), guest, context);
      } catch (const support::Error& problem) {
        throw support::Error("{}. {}", problem.what(), Damage());
      }
    } catch (const support::ConnectionLost& lost) {
      if (stage == Stage::kUntouched || (stage == Stage::kRenaming && !lost.may_have_run())) {
        support::LogWarning(lost.what());
        throw support::ConnectionLost(
            Format("the connection to the guest was lost: {} was not changed", target.host), false);
      }
      throw support::ConnectionLost(
          Format("the connection to the guest was lost: {} ({})", Damage(), lost.what()), true);
    } catch (const support::Stopped& stopped) {
      const bool is_cancelled = stopped.reason() == support::StopReason::kCancelled;
      if (stage == Stage::kUntouched || is_cancelled) throw;
      throw support::Error("{}: {}", stopped.what(), Damage());
    }
  }

  [[nodiscard]] std::string Damage() const {
    return Format("{} {}. Read the file before you write again", target.host,
                  stage == Stage::kRenaming
                      ? "may have been written: it is the old file or the whole new one"
                      : "was written in place and may have been written in part");
  }

  void RequireUnchanged(const guest::FileAttributes& now) const {
    if (now != *target.attributes) throw ChangedMeanwhile(target.host);
  }

  [[noreturn]] void ThrowForeign() const {
    const std::uint32_t owner = target.attributes->user_id;
    throw support::Error("{} belongs to {}; use run_shell_command with sudo, if the guest has that",
                         target.host, owner == 0 ? "root" : Format("user {}", owner));
  }

  /// The temporary file comes first, because its creation answers what SFTP has no request for: who
  /// would own a new file here, and whether there can be one. Only then is it known if the target
  /// may be replaced. The check of the owner's write bit follows, since root needs no bit, and a
  /// foreign file deserves another error. All checks of the old content are the last reply of the
  /// round trip that closes the new file: as late as possible before the rename. `stage` is set
  /// before a request that may change the target, never after its reply, which may not come.
  std::string Write() {
    const std::optional<guest::FileAttributes>& old = target.attributes;
    if (old) {
      RequireRegularFile(target, guest, context);
    } else {
      MakeParents(target, guest, context);
    }
    const std::uint32_t permissions = old ? old->permissions : kNewFilePermissions;
    std::optional<TemporaryFile> temporary;
    try {
      temporary.emplace(target, permissions & kPermissionBits, guest, context);
    } catch (const FileError& error) {
      if (error.code() != FileErrorCode::kPermissionDenied || !old) throw;
    }
    const bool is_foreign = old && temporary &&
                            (temporary->attributes().user_id != old->user_id ||
                             temporary->attributes().group_id != old->group_id);
    if ((permissions & kOwnerMayWrite) == 0) {
      if (is_foreign) ThrowForeign();
      throw FileError(FileErrorCode::kPermissionDenied, "write", target.host, "");
    }
    if (!temporary) return WriteInPlace("no file can be created beside it");
    if (is_foreign) {
      temporary.reset();
      return WriteInPlace("it belongs to another user or group");
    }
    std::vector<guest::Request> last;
    if (overwrite == Overwrite::kIfUnchanged) last = {guest::Request::LStat(target.guest)};
    const bool must_set = old && temporary->attributes().permissions != permissions;
    std::vector<guest::Reply> replies = temporary->WriteAndClose(
        content, must_set ? std::optional(permissions) : std::nullopt, last);
    if (!last.empty()) RequireUnchanged(replies.back().As<guest::FileAttributes>());
    context.ThrowIfStopped();
    stage = Stage::kRenaming;
    try {
      temporary->RenameTo(target.guest);
    } catch (const FileError& error) {
      if (!old || error.code() != FileErrorCode::kFailure || !IsMountPoint()) throw;
      temporary.reset();
      stage = Stage::kUntouched;
      return WriteInPlace("it is a mount of its own");
    }
    temporary->RemoveLeftovers(target.guest);
    return "";
  }

  /// Such as a file that is mounted from elsewhere, which cannot be replaced.
  [[nodiscard]] bool IsMountPoint() const {
    const std::string line = shell::ShellQuote(" " + target.guest + " ");
    const std::string script = "grep -qF " + line + " /proc/self/mountinfo";
    return guest::CaptureScript(guest, {script}, context).exit_status == 0;
  }

  std::string WriteInPlace(const std::string& reason) {
    std::unique_ptr<guest::OpenFile> file;
    try {
      file = OpenForWriting(target, guest, context);
    } catch (const FileError& error) {
      if (error.code() == FileErrorCode::kPermissionDenied) ThrowForeign();
      throw;
    }
    if (overwrite == Overwrite::kIfUnchanged) RequireUnchanged(guest.LStat(target.guest, context));
    stage = Stage::kInPlace;
    file->Write(0, content, context);
    // Even if the size seems right: the file may have grown.
    file->WriteAndClose("", {.permissions = std::nullopt, .size = content.size()}, context);
    return Format("{} was written in place, not atomically: {}", target.host, reason);
  }
};

}  // namespace

ChangedMeanwhile::ChangedMeanwhile(const std::string& shown)
    : Error(Format("{} is being changed by something else at the same time; "
                   "nothing was changed by this call: read it again, and try again",
                   shown)) {}

FileWriter::DirectoryLock FileWriter::Lock(const paths::ResolvedPath& path,
                                           const support::Context& context) {
  const std::string directory = support::ParentPath(path.guest);
  std::unique_lock lock(mutex_);
  const auto is_free = [&] { return !locked_.contains(directory); };
  if (!support::WaitUntil(released_, lock, context, is_free)) context.ThrowIfStopped();
  const auto locked = locked_.insert(directory).first;
  lock.unlock();
  return {&*locked, [this, locked](const void*) {
            {
              const std::scoped_lock relock(mutex_);
              locked_.erase(locked);
            }
            released_.notify_all();
          }};
}

std::string FileWriter::Write(const paths::ResolvedPath& target, std::string_view content,
                              guest::Guest& guest, const support::Context& context,
                              Overwrite overwrite) {
  return WriteCall{target, content, guest, context, overwrite}.Run();
}

}  // namespace files
