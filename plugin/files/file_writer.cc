#include "files/file_writer.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "files/file_content.h"
#include "files/file_problem.h"
#include "files/temporary_file.h"
#include "support/errors.h"
#include "support/log.h"
#include "support/paths.h"

namespace files {
namespace {

using guest::FileAttributes;
using guest::FileError;
using guest::FileErrorCode;

constexpr std::uint32_t kNewFilePermissions = 0666;
constexpr std::uint32_t kNewDirectoryPermissions = 0777;
constexpr std::uint32_t kPermissionBits = 0777;
constexpr std::uint32_t kOwnerMayWrite = 0200;

/// The connection broke when the target may have changed already.
class LostWhileVisible : public support::ConnectionLost {
 public:
  LostWhileVisible(const std::string& text, const support::ConnectionLost& cause)
      : ConnectionLost(text + " Look at the file before you write again (" + cause.what() + ").",
                       true) {}
};

bool IsDirectory(const std::string& path, guest::Guest& guest, const support::Context& context) {
  try {
    return guest.LStat(path, context).type == guest::FileType::kDirectory;
  } catch (const FileError&) {
    return false;
  }
}

void MakeParents(const paths::ResolvedPath& target, guest::Guest& guest,
                 const support::Context& context) {
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
      // Another call may have created it. Anything else, such as a link, is refused.
      if (!IsDirectory(made, guest, context)) throw;
    }
  }
}

constexpr const char* kInPlace = "written in place, since its directory takes no new file";

/// For a failure after something may have been written.
[[noreturn]] void ThrowProblemInPlace(const FileError& error, const paths::ResolvedPath& target,
                                      std::string_view content, guest::Guest& guest,
                                      const support::Context& context) {
  try {
    ThrowFileProblem(error, "write", target, content.size(), guest, context);
  } catch (const support::CallError& problem) {
    throw support::CallError(
        std::string(problem.what()) + ". The file was " + kInPlace +
        ": it may have been written in part. Look at the file before you write again.");
  }
}

void WriteInPlace(const paths::ResolvedPath& target, std::string_view content, guest::Guest& guest,
                  const support::Context& context, const std::function<void()>& last_look) {
  const auto file = OpenForWriting(target, guest, context);
  if (last_look) last_look();
  try {
    file->Write(0, content, context);
    // Also if the size seems right: the file may have grown.
    file->SetAttributes({.permissions = std::nullopt, .size = content.size()}, context);
    file->Sync(context);  // false if the server does not offer it
    file->Close(context);
  } catch (const FileError& error) {
    ThrowProblemInPlace(error, target, content, guest, context);
  } catch (const support::ConnectionLost& lost) {
    throw LostWhileVisible(std::string("the connection to the guest broke while the file was ") +
                               kInPlace + ": it may have been written in part.",
                           lost);
  } catch (const support::Stopped& stopped) {
    if (stopped.reason() == support::StopReason::kCancelled) throw;
    throw support::CallError(std::string(stopped.what()) +
                             " while the file was written in place: it may have been written in "
                             "part. Look at the file before you write again.");
  }
}

void Rename(TemporaryFile& temporary, const std::string& target) {
  try {
    temporary.RenameTo(target);
  } catch (const support::ConnectionLost& lost) {
    if (!lost.may_have_run()) throw;
    throw LostWhileVisible(
        "the connection to the guest broke while the file was replaced, so it may have been "
        "written: "
        "it is the old file or the whole new one.",
        lost);
  } catch (const support::Stopped&) {
    throw support::CallError(
        "the guest did not confirm in time that the file was replaced: it is the old file or the "
        "whole new one. Look at the file before you write again.");
  }
}

std::string WriteFile(const paths::ResolvedPath& target, std::string_view content,
                      guest::Guest& guest, const support::Context& context,
                      const std::function<void()>& last_look) {
  std::optional<std::uint32_t> permissions;
  if (target.attributes) {
    RequireRegularFile(target);
    permissions = target.attributes->permissions & kPermissionBits;
    if ((*permissions & kOwnerMayWrite) == 0) {
      throw FileError(FileErrorCode::kPermissionDenied, "write", target.host, "");
    }
  } else {
    MakeParents(target, guest, context);
  }
  std::optional<TemporaryFile> temporary;
  try {
    temporary.emplace(support::ParentPath(target.guest), permissions.value_or(kNewFilePermissions),
                      guest, context);
  } catch (const FileError& error) {
    if (error.code() != FileErrorCode::kPermissionDenied || !target.attributes) throw;
    WriteInPlace(target, content, guest, context, last_look);
    return target.host + " was " + kInPlace + ": not atomic";
  }
  temporary->WriteAndClose(content, permissions);
  if (last_look) last_look();
  context.ThrowIfStopped();
  Rename(*temporary, target.guest);
  temporary->RemoveLeftovers(target.guest);
  return "";
}

}  // namespace

DirectoryLocks::Lock DirectoryLocks::Acquire(const std::string& directory,
                                             const support::Context& context) {
  // Locking here makes sure that no waiter is between its check and its sleep.
  const auto registration = context.OnStop([this] {
    { const std::scoped_lock lock(mutex_); }
    released_.notify_all();
  });
  std::unique_lock lock(mutex_);
  while (held_.contains(directory)) {
    context.ThrowIfStopped();
    if (context.deadline() == support::Clock::time_point::max()) {
      released_.wait(lock);
    } else {
      released_.wait_until(lock, context.deadline());
    }
  }
  held_.insert(directory);
  return {*this, directory};
}

DirectoryLocks::Lock::~Lock() {
  {
    const std::scoped_lock lock(locks_.mutex_);
    locks_.held_.erase(directory_);
  }
  locks_.released_.notify_all();
}

DirectoryLocks::Lock FileWriter::Lock(const paths::ResolvedPath& path,
                                      const support::Context& context) {
  return locks_.Acquire(support::ParentPath(path.guest), context);
}

std::string FileWriter::Write(const paths::ResolvedPath& target, std::string_view content,
                              guest::Guest& guest, const support::Context& context,
                              const std::function<void()>& last_look) {
  try {
    return WriteFile(target, content, guest, context, last_look);
  } catch (const LostWhileVisible&) {
    throw;
  } catch (const support::ConnectionLost& lost) {
    support::LogWarning(lost.what());
    throw support::ConnectionLost(
        "the connection to the guest broke before the file was replaced: " + target.host +
            " was not changed",
        false);
  }
}

}  // namespace files
