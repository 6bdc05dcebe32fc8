#include "files/temporary_file.h"

#include <algorithm>
#include <exception>

#include "support/errors.h"
#include "support/log.h"
#include "support/paths.h"

namespace files {
namespace {

constexpr std::chrono::seconds kCleanUpTimeLimit{5};

std::string TakenText(const std::vector<std::string>& taken) {
  return "other servers write beside it, or left files there: remove " +
         std::string(support::LastComponent(taken.front())) + " to " +
         std::string(support::LastComponent(taken.back())) + " if no server runs";
}

}  // namespace

TemporaryNames::Claims::~Claims() {
  const std::scoped_lock lock(names_.mutex_);
  for (const std::string& path : paths_) names_.claimed_.erase(path);
}

bool TemporaryNames::Claims::Add(const std::string& path) {
  const std::scoped_lock lock(names_.mutex_);
  if (!names_.claimed_.insert(path).second) return false;
  paths_.push_back(path);
  return true;
}

TemporaryFile::TemporaryFile(const std::string& directory, std::uint32_t permissions,
                             TemporaryNames& names, guest::Guest& guest,
                             const support::Context& context)
    : guest_(guest), context_(context), claims_(names) {
  for (int number = 1; !file_; ++number) {
    path_ = support::JoinPath(directory, std::string(kTemporaryPrefix) + std::to_string(number));
    if (!claims_.Add(path_)) continue;
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

TemporaryFile::~TemporaryFile() {
  if (!is_ours_) return;
  file_.reset();
  try {
    guest_.Unlink(path_, support::Context().WithTimeout(kCleanUpTimeLimit));
  } catch (const std::exception& error) {
    support::LogWarning("a temporary file could not be removed in the guest: " + path_ + ": " +
                        error.what());
  }
}

void TemporaryFile::WriteAndClose(std::string_view bytes,
                                  std::optional<std::uint32_t> permissions) {
  file_->WriteAndClose(bytes, permissions, context_);
  file_.reset();
}

void TemporaryFile::RenameTo(const std::string& target) {
  is_ours_ = false;  // unless the guest says that it was not renamed
  try {
    guest_.Rename(path_, target, context_);
  } catch (const guest::FileError& error) {
    is_ours_ = error.code() != guest::FileErrorCode::kNotFound;
    throw;
  }
}

void TemporaryFile::Remove() {
  guest_.Unlink(path_, context_);
  is_ours_ = false;
}

void TemporaryFile::RemoveLeftovers(const std::string& written) {
  if (taken_.empty()) return;
  constexpr std::int64_t kAge = std::chrono::seconds(kLeftoverAge).count();
  try {
    // The file system's own clock, which may differ from the guest's.
    const std::int64_t now = guest_.LStat(written, context_).modified;
    for (const std::string& path : taken_) {
      try {
        const guest::FileAttributes found = guest_.LStat(path, context_);
        if (found.type == guest::FileType::kRegular && found.modified + kAge < now) {
          guest_.Unlink(path, context_);
        }
      } catch (const guest::FileError& error) {
        // It may be gone by now.
        if (error.code() != guest::FileErrorCode::kNotFound) support::LogInfo(error.what());
      }
    }
  } catch (const support::CallError& error) {
    support::LogInfo(std::string("leftovers were not looked for: ") + error.what());
  }
}

}  // namespace files
