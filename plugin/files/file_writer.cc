#include "files/file_writer.h"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "files/file_content.h"
#include "files/file_problem.h"
#include "support/errors.h"
#include "support/log.h"
#include "support/paths.h"

namespace files {
namespace {

using guest::FileError;
using guest::FileErrorCode;

constexpr std::uint32_t kNewFilePermissions = 0666;
constexpr std::uint32_t kNewDirectoryPermissions = 0777;
constexpr std::uint32_t kPermissionBits = 0777;
constexpr std::uint32_t kOwnerMayWrite = 0200;

/// A write fails if other servers use this many names in its directory.
constexpr std::size_t kMostTaken = 16;

constexpr std::chrono::seconds kCleanUpTimeLimit{5};

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

std::string TakenText(const std::vector<std::string>& taken) {
  return "other servers write in this directory, or left files there: if no server runs, remove " +
         std::string(support::LastComponent(taken.front())) + " to " +
         std::string(support::LastComponent(taken.back()));
}

/// A new file that the destructor removes unless RenameTo was called. The destructor waits at most
/// kCleanUpTimeLimit, also after a cancel.
///
/// It removes and renames only a file that it certainly created: the same name may be another
/// server's. So a file stays if the guest does not answer, or the connection breaks; a later write
/// in the directory removes it. Of one server, only one may exist in a directory at a time.
class TemporaryFile {
 public:
  /// Creates the file with the lowest free number. One round trip, and two for each taken name.
  TemporaryFile(const std::string& directory, std::uint32_t permissions, guest::Guest& guest,
                const support::Context& context)
      : guest_(guest), context_(context) {
    while (!file_) {
      const std::string number = std::to_string(taken_.size() + 1);
      path_ = support::JoinPath(directory, std::string(kTemporaryPrefix) + number);
      try {
        file_ = guest.Open(path_, guest::OpenMode::kCreateExclusive, permissions, context);
      } catch (const guest::FileError& error) {
        if (error.code() != guest::FileErrorCode::kAlreadyExists) throw;
        taken_.push_back(path_);
        if (taken_.size() == kMostTaken) {
          throw guest::FileError(guest::FileErrorCode::kFailure, "write", path_, TakenText(taken_));
        }
      }
    }
    is_ours_ = true;
  }

  ~TemporaryFile() {
    if (!is_ours_) return;
    file_.reset();
    try {
      guest_.Unlink(path_, support::Context().WithTimeout(kCleanUpTimeLimit));
    } catch (const std::exception& error) {
      support::LogWarning("cannot remove a temporary file in the guest: " + path_ + ": " +
                          error.what());
    }
  }

  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void WriteAndClose(std::string_view bytes, std::optional<std::uint32_t> permissions) {
    file_->WriteAndClose(bytes, permissions, context_);
    file_.reset();
  }

  void RenameTo(const std::string& target) {
    is_ours_ = false;  // unless the guest reports that it was not renamed
    try {
      guest_.Rename(path_, target, context_);
    } catch (const guest::FileError& error) {
      is_ours_ = error.code() != guest::FileErrorCode::kNotFound;
      throw;
    }
  }

  /// Removes the files with the taken names that are older by kLeftoverAge than `written`, a file
  /// in the same directory that was just written. Logs errors. At most two round trips; none if no
  /// name was taken.
  void RemoveLeftovers(const std::string& written) {
    if (taken_.empty()) return;
    constexpr std::int64_t kAge = std::chrono::seconds(kLeftoverAge).count();
    try {
      std::vector<guest::Request> looks{guest::request::LStat{written}};
      for (const std::string& path : taken_) looks.emplace_back(guest::request::LStat{path});
      std::vector<guest::Reply> found = guest_.RoundTrip(std::move(looks), context_);
      // Compared by the file system's own clock, which may differ from the guest's.
      const std::int64_t now = found.front().As<guest::FileAttributes>().modified;
      std::vector<guest::Request> removals;
      for (std::size_t i = 0; i < taken_.size(); ++i) {
        guest::Reply& reply = found[i + 1];
        if (reply.failure) continue;  // gone by now
        const auto& attributes = reply.As<guest::FileAttributes>();
        const bool is_old = attributes.modified + kAge < now;
        if (is_old && attributes.type == guest::FileType::kRegular) {
          removals.emplace_back(guest::request::Unlink{taken_[i]});
        }
      }
      if (!removals.empty()) guest_.RoundTrip(std::move(removals), context_);
    } catch (const support::CallError& error) {
      support::LogInfo(std::string("leftover temporary files were not removed: ") + error.what());
    }
  }

 private:
  guest::Guest& guest_;
  const support::Context& context_;
  std::vector<std::string> taken_;
  std::string path_;
  std::unique_ptr<guest::OpenFile> file_;
  bool is_ours_ = false;
};

/// One call of FileWriter::Write.
class WriteCall {
 public:
  WriteCall(const paths::ResolvedPath& target, std::string_view content, guest::Guest& guest,
            const support::Context& context, const std::function<void()>& last_look)
      : target_(target),
        content_(content),
        guest_(guest),
        context_(context),
        last_look_(last_look) {}

  /// Turns errors into what they mean for the target.
  std::string Run() {
    try {
      return Write();
    } catch (const FileError& error) {
      if (stage_ != Stage::kInPlace) throw;
      ThrowProblemInPlace(error);
    } catch (const support::ConnectionLost& lost) {
      if (stage_ == Stage::kUntouched || (stage_ == Stage::kRenaming && !lost.may_have_run())) {
        support::LogWarning(lost.what());
        throw support::ConnectionLost(
            "the connection to the guest broke: " + target_.host + " was not changed", false);
      }
      throw support::ConnectionLost(
          "the connection to the guest broke: " + Damage() + " (" + lost.what() + ")", true);
    } catch (const support::Stopped& stopped) {
      const bool is_cancelled = stopped.reason() == support::StopReason::kCancelled;
      if (stage_ == Stage::kUntouched || is_cancelled) throw;
      throw support::CallError(std::string(stopped.what()) + ": " + Damage());
    }
  }

 private:
  enum class Stage { kUntouched, kRenaming, kInPlace };

  [[nodiscard]] std::string Damage() const {
    return target_.host +
           (stage_ == Stage::kRenaming
                ? " may have been written: it is the old file or the whole new one"
                : " was written in place and may have been written in part") +
           ". Look at the file before you write again";
  }

  [[noreturn]] void ThrowProblemInPlace(const FileError& error) {
    try {
      ThrowFileProblem(error, "write", target_, content_.size(), guest_, context_);
    } catch (const support::CallError& problem) {
      throw support::CallError(std::string(problem.what()) + ". " + Damage());
    }
  }

  std::string Write() {
    std::optional<std::uint32_t> permissions;
    if (target_.attributes) {
      RequireRegularFile(target_);
      permissions = target_.attributes->permissions & kPermissionBits;
      if ((*permissions & kOwnerMayWrite) == 0) {
        throw FileError(FileErrorCode::kPermissionDenied, "write", target_.host, "");
      }
    } else {
      MakeParents(target_, guest_, context_);
    }
    std::optional<TemporaryFile> temporary;
    try {
      temporary.emplace(support::ParentPath(target_.guest),
                        permissions.value_or(kNewFilePermissions), guest_, context_);
    } catch (const FileError& error) {
      if (error.code() != FileErrorCode::kPermissionDenied || !target_.attributes) throw;
    }
    if (!temporary) return WriteInPlace();
    temporary->WriteAndClose(content_, permissions);
    if (last_look_) last_look_();
    context_.ThrowIfStopped();
    stage_ = Stage::kRenaming;
    temporary->RenameTo(target_.guest);
    temporary->RemoveLeftovers(target_.guest);
    return "";
  }

  std::string WriteInPlace() {
    const auto file = OpenForWriting(target_, guest_, context_);
    if (last_look_) last_look_();
    stage_ = Stage::kInPlace;
    file->Write(0, content_, context_);
    // Also if the size seems right: the file may have grown.
    file->SetAttributes({.permissions = std::nullopt, .size = content_.size()}, context_);
    file->Sync(context_);  // false if the server does not offer it
    file->Close(context_);
    return target_.host +
           " was written in place, since its directory takes no new file: not atomic";
  }

  const paths::ResolvedPath& target_;
  std::string_view content_;
  guest::Guest& guest_;
  const support::Context& context_;
  const std::function<void()>& last_look_;
  Stage stage_ = Stage::kUntouched;
};

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
  return WriteCall(target, content, guest, context, last_look).Run();
}

}  // namespace files
