#include "tools/atomic_write.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "support/errors.h"
#include "support/log.h"
#include "support/paths.h"
#include "tools/file_call.h"
#include "tools/file_content.h"
#include "tools/link_count.h"

namespace tools {
namespace {

using guest::FileAttributes;
using guest::FileError;
using guest::FileErrorCode;

constexpr std::uint32_t kNewFilePermissions = 0666;
constexpr std::uint32_t kNewDirectoryPermissions = 0777;
constexpr std::uint32_t kPermissionBits = 0777;
constexpr std::uint32_t kOwnerMayWrite = 0200;
constexpr int kNameAttempts = 4;

// Cleaning up goes on after a cancel or a deadline, but not for long.
constexpr std::chrono::seconds kCleanUpTimeLimit{5};

/// The line broke when the target may have been changed already.
class LostWhileVisible : public support::ConnectionLost {
 public:
  LostWhileVisible(const std::string& text, const support::ConnectionLost& cause)
      : ConnectionLost(text + " Look at the file before you write again (" + cause.what() + ").",
                       true) {}
};

/// The temporary file has gone with the shell that watched over it, which had to give way: nothing
/// has been changed, and the write may be done again.
class LostTemporaryFile : public FileError {
 public:
  explicit LostTemporaryFile(const std::string& path)
      : FileError(FileErrorCode::kFailure, "rename", path, "the temporary file has gone") {}
};

/// A new file beside the target that is removed unless it has taken the target's place.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& target, std::uint32_t permissions, const WriteHelpers& helpers,
                guest::Guest& guest, const support::Context& context)
      : helpers_(helpers), guest_(guest), context_(context) {
    for (int attempt = 1; !file_; ++attempt) {
      name_ = helpers.cleaner.MakeName(support::ParentPath(target), guest, context);
      try {
        file_ = guest.Open(name_.path, guest::OpenMode::kCreateExclusive, permissions, context);
      } catch (const FileError& error) {
        if (error.code() != FileErrorCode::kAlreadyExists || attempt == kNameAttempts) throw;
      } catch (const support::ConnectionLost& lost) {
        if (lost.may_have_run()) helpers.left_behind.Add(name_.path);
        throw;
      } catch (const support::Stopped&) {
        Remove();  // the guest may make it all the same
        throw;
      }
    }
  }

  ~TemporaryFile() {
    if (name_.path.empty()) return;
    file_.reset();
    Remove();
  }

  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  FileAttributes Stat() { return file_->Stat(context_); }

  void SetPermissions(std::uint32_t permissions) {
    file_->SetAttributes({.permissions = permissions, .size = std::nullopt}, context_);
  }

  void FillAndReplace(const std::string& target, std::string_view content) {
    file_->WriteAndClose(content, context_);
    file_.reset();
    if (helpers_.last_look) helpers_.last_look();
    try {
      guest_.Rename(name_.path, target, context_);
    } catch (const FileError& error) {
      const bool has_gone = error.code() == FileErrorCode::kNotFound && name_.watched &&
                            !helpers_.cleaner.Watches(name_);
      if (!has_gone) throw;
      name_.path.clear();
      throw LostTemporaryFile(target);
    } catch (const support::ConnectionLost& lost) {
      if (!lost.may_have_run()) throw;
      name_.path.clear();  // it may be gone, and nobody is there to ask
      throw LostWhileVisible(
          "the line to the guest broke while the new content took the file's place, so that it "
          "may have been written: it is the old file or the whole new one.",
          lost);
    } catch (const support::Stopped&) {
      throw support::CallError(
          "the guest did not answer in time whether the new content has taken "
          "the file's place: it is the old file or the whole new one");
    }
    name_.path.clear();
  }

 private:
  /// Does not throw.
  void Remove() {
    try {
      guest_.Unlink(name_.path, support::Context().WithTimeout(kCleanUpTimeLimit));
    } catch (const FileError& error) {
      // It was never made, or has taken the target's place after all.
      if (error.code() != FileErrorCode::kNotFound) LeaveBehind(error);
    } catch (const std::exception& error) {
      LeaveBehind(error);
    }
  }

  void LeaveBehind(const std::exception& why) {
    helpers_.left_behind.Add(name_.path);
    if (name_.watched) return;  // the shell in the guest removes it
    support::LogWarning("a temporary file stays behind in the guest: " + name_.path + ": " +
                        why.what());
  }

  const WriteHelpers& helpers_;
  guest::Guest& guest_;
  const support::Context& context_;
  LeftoverCleaner::Name name_;
  std::unique_ptr<guest::OpenFile> file_;
};

/// To be called once the file is open: when the mount vanishes after that, what is open lies on it
/// and the rename finds nothing beneath.
void RequireMounted(const ResolvedPath& target, guest::Guest& guest,
                    const support::Context& context) {
  if (target.require_mounted) target.require_mounted(guest, context);
}

bool IsDirectory(const std::string& path, guest::Guest& guest, const support::Context& context) {
  try {
    return guest.LStat(path, context).type == guest::FileType::kDirectory;
  } catch (const FileError&) {
    return false;
  }
}

void MakeParents(const ResolvedPath& target, guest::Guest& guest, const support::Context& context) {
  const std::string parent = support::ParentPath(target.guest);
  std::string made = target.existing_parent;
  std::string_view rest = support::PathBelow(parent, made).value_or("");
  while (!rest.empty()) {
    const std::string_view component = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(component.size() + 1, rest.size()));
    made = support::JoinPath(made, component);
    try {
      guest.MakeDirectory(made, kNewDirectoryPermissions, context);
    } catch (const FileError&) {
      // Another call may have made it; anything but a directory, a link above all, would lead
      // elsewhere. Where there is nothing, why it could not be made is the reason.
      if (!IsDirectory(made, guest, context)) throw;
    }
  }
}

constexpr const char* kWhyInPlace =
    "because a new one would have lost its links or its owner, or could not be made beside it";

/// For what the guest refused after something may have been written.
[[noreturn]] void ThrowProblemInPlace(const FileError& error, const ResolvedPath& target,
                                      std::string_view content, guest::Guest& guest,
                                      const support::Context& context) {
  try {
    ThrowFileProblem(error, "write", target, content.size(), guest, context);
  } catch (const support::CallError& problem) {
    throw support::CallError(
        std::string(problem.what()) + ". The file was written in place, " + kWhyInPlace +
        ": it may have been written in part. Look at the file before you write again.");
  }
}

/// Throws where what the file grows by has no room. A new file fails beside the old one; in place
/// the old content would be gone by then.
void RequireRoom(const ResolvedPath& target, std::uint64_t old_size, std::uint64_t new_size,
                 guest::Guest& guest, const support::Context& context) {
  if (new_size <= old_size) return;
  guest::FileSystemStatus status;
  try {
    status = guest.StatFileSystem(target.guest, context);
  } catch (const FileError&) {
    return;  // not offered
  }
  // One without blocks does not tell.
  if (status.blocks > 0 && status.free_bytes < new_size - old_size) {
    throw FileError(FileErrorCode::kFailure, "write", target.host, "no space left");
  }
}

void WriteInPlace(const ResolvedPath& target, std::string_view content, const WriteHelpers& helpers,
                  guest::Guest& guest, const support::Context& context) {
  const OpenedFile opened = OpenRegularFile(target, guest::OpenMode::kWrite, guest, context);
  RequireMounted(target, guest, context);
  RequireRoom(target, opened.attributes.size, content.size(), guest, context);
  if (helpers.last_look) helpers.last_look();
  try {
    opened.file->Write(0, content, context);
    // In any case: the file may have grown since it was looked at.
    opened.file->SetAttributes({.permissions = std::nullopt, .size = content.size()}, context);
    opened.file->Sync(context);  // false: the server has none, and then nobody can do better
    opened.file->Close(context);
  } catch (const FileError& error) {
    ThrowProblemInPlace(error, target, content, guest, context);
  } catch (const support::ConnectionLost& lost) {
    throw LostWhileVisible(
        std::string("the line to the guest broke while the file was written in place, ") +
            kWhyInPlace + ": it may have been written in part.",
        lost);
  } catch (const support::Stopped& stopped) {
    if (stopped.reason() == support::StopReason::kCancelled) throw;
    throw support::CallError(std::string(stopped.what()) +
                             " while the file was written in place: it may have been written in "
                             "part. Look at the file before you write again.");
  }
}

/// False when a rename would lose something, and nothing has been changed.
bool ReplaceExisting(const ResolvedPath& target, std::string_view content,
                     const WriteHelpers& helpers, guest::Guest& guest,
                     const support::Context& context) {
  const std::optional<std::uint32_t> links = CountLinks(target.guest, guest, context);
  // Not in place: most likely the name is being moved, and opening it follows a link put there.
  if (!links) {
    throw support::CallError(target.host +
                             " was moved away while it was to be written, or the guest's command "
                             "stat cannot tell its hard links. Nothing was written.");
  }
  if (*links != 1) return false;
  const std::uint32_t permissions = target.attributes->permissions & kPermissionBits;
  std::optional<TemporaryFile> temporary;
  try {
    temporary.emplace(target.guest, permissions, helpers, guest, context);
  } catch (const FileError& error) {
    if (error.code() == FileErrorCode::kPermissionDenied) return false;
    throw;
  }
  const FileAttributes made = temporary->Stat();
  if (made.user_id != target.attributes->user_id || made.group_id != target.attributes->group_id) {
    return false;
  }
  if ((permissions & kOwnerMayWrite) == 0 && made.user_id != 0) {
    throw FileError(FileErrorCode::kPermissionDenied, "write", target.host, "");
  }
  if ((made.permissions & kPermissionBits) != permissions) temporary->SetPermissions(permissions);
  RequireMounted(target, guest, context);
  temporary->FillAndReplace(target.guest, content);
  return true;
}

void Write(const ResolvedPath& target, std::string_view content, const WriteHelpers& helpers,
           guest::Guest& guest, const support::Context& context) {
  if (!target.attributes) {
    MakeParents(target, guest, context);
    TemporaryFile temporary(target.guest, kNewFilePermissions, helpers, guest, context);
    RequireMounted(target, guest, context);
    temporary.FillAndReplace(target.guest, content);
    return;
  }
  RequireRegularFile(target);
  if (!ReplaceExisting(target, content, helpers, guest, context)) {
    WriteInPlace(target, content, helpers, guest, context);
  }
}

}  // namespace

void LeftBehind::Remove(guest::Guest& guest, const support::Context& context) {
  while (!paths_.empty()) {
    try {
      guest.Unlink(paths_.back(), context);
    } catch (const FileError& error) {
      if (error.code() != FileErrorCode::kNotFound) support::LogWarning(error.what());
    }
    paths_.pop_back();
  }
}

void WriteWhole(const ResolvedPath& target, std::string_view content, const WriteHelpers& helpers,
                guest::Guest& guest, const support::Context& context) {
  try {
    helpers.left_behind.Remove(guest, context);
    try {
      Write(target, content, helpers, guest, context);
    } catch (const LostTemporaryFile&) {
      Write(target, content, helpers, guest, context);  // no longer watched
    }
  } catch (const LostWhileVisible&) {
    throw;
  } catch (const support::ConnectionLost& lost) {
    // Directories and a temporary file may have been made, which the next attempt makes its own.
    support::LogWarning(lost.what());
    throw support::ConnectionLost(
        "the line to the guest broke before the new content was in place: " + target.host +
            " was not changed",
        false);
  }
}

}  // namespace tools
